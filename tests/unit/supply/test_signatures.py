"""A signature that is verified after installing is in the lock at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metier.supply.apply import sign_skill, verify_skill
from metier.trust import sign

if TYPE_CHECKING:
    from fakes.shop import Shop


def test_the_lock_says_at_once_who_signed_a_skill(shop: Shop) -> None:
    pytest.importorskip("cryptography")
    shop.offer("pdf")
    shop.offer("ocr")
    with shop.open() as m:
        m.add("../shelf/pdf")
        m.add("../shelf/ocr")
        before = shop.pins()
        key, _path = sign.new_key(m.context)
        signed, path = sign.sign_skill(m.context, str(shop.shelf / "pdf"))
        verify_skill(m.context, "pdf", path)
        after = shop.pins()
        again = shop.lock.read_bytes()
        verify_skill(m.context, "pdf")
        own, _where = sign_skill(m.context, "ocr")
        found = m.sync(frozen=True)

    assert ("", key) == (before["pdf"].get("signature", ""), after["pdf"]["signature"])
    assert {**before["pdf"], "signature": key} == after["pdf"]
    assert (before["ocr"], again) == (after["ocr"], again)
    assert (own.key, signed.key, True) == (str(shop.pins()["ocr"]["signature"]), key, found.ok)


def test_edits_are_not_what_the_lock_calls_signed(shop: Shop) -> None:
    pytest.importorskip("cryptography")
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
        before = shop.lock.read_bytes()
        sign.new_key(m.context)
        with shop.working("pdf", "SKILL.md").open("a") as file:
            file.write("Mine.\n")
        sign_skill(m.context, "pdf")

    assert before == shop.lock.read_bytes()
