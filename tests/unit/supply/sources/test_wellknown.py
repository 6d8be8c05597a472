from __future__ import annotations

import json

import pytest

from metier.errors import IntegrityError, MetierError
from metier.settings.model import SupplySettings
from metier.supply.sources.registries import (
    NEW_INDEX_PATH,
    OLD_INDEX_PATH,
    IndexedSkill,
    check_digest,
    index_digest,
    read_offers,
)

DIGEST = "sha256:" + "a" * 64


def index(*skills: object) -> bytes:
    return json.dumps({"skills": skills}).encode()


def entry(**others: object) -> dict[str, object]:
    return {
        "name": "pdf",
        "type": "archive",
        "description": "Does.",
        "url": "pdf.zip",
        "digest": DIGEST,
        **others,
    }


def test_an_index_with_digests_is_read() -> None:
    found = read_offers(
        index(entry(), entry(name="x", type="skill-md", url="/x.md")),
        NEW_INDEX_PATH,
        SupplySettings(),
    )

    assert (
        IndexedSkill("pdf", "Does.", "archive", "pdf.zip", "a" * 64),
        IndexedSkill("x", "Does.", "skill-md", "/x.md", "a" * 64),
    ) == found


def test_the_older_index_is_read() -> None:
    found = read_offers(
        index({"name": "pdf", "description": "Does.", "files": ["SKILL.md", "./a//b.md"]}),
        OLD_INDEX_PATH,
        SupplySettings(),
    )

    assert (IndexedSkill("pdf", "Does.", "files", "", "", ("SKILL.md", "a/b.md")),) == found


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "malformed"),
        (b"[]", "malformed"),
        (b"\xff", "malformed"),
        (b"[" * 100_000, "malformed"),
        (b'{"skills": 1}', "malformed"),
        (index(1), "malformed"),
        (index({}), "malformed"),
        (index(entry(name=1)), "malformed"),
        (index(entry(name="Upper")), "malformed"),
        (index(entry(name="../x")), "unsafe-path"),
        (index(entry(name="a/b")), "unsafe-path"),
        (index(entry(name="con")), "unsafe-path"),
        (index(entry(name="")), "unsafe-path"),
        (index(entry(type="exe")), "malformed"),
        (index(entry(url="")), "malformed"),
        (index(entry(digest="")), "malformed"),
        (index(entry(digest="md5:00")), "malformed"),
        (index(entry(digest="sha256:AA")), "malformed"),
        (index(entry(), entry()), "collision"),
        (index(*[entry()] * 5001), "too-many"),
        (b'{"skills": [' + b"9" * 5000 + b"]}", "malformed"),
    ],
)
def test_an_index_that_cannot_be_believed_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(MetierError) as caught:
        read_offers(data, NEW_INDEX_PATH, SupplySettings())

    assert code == caught.value.code


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (None, "malformed"),
        ([], "malformed"),
        ([1], "malformed"),
        (["a.md"], "malformed"),
        (["SKILL.md", "../x"], "unsafe-path"),
        (["SKILL.md", "/etc/x"], "unsafe-path"),
        (["SKILL.md", "skill.MD"], "collision"),
        (["SKILL.md"] + ["f"] * 60_000, "too-many"),
    ],
)
def test_files_of_the_older_index_are_judged_like_any_path(files: object, code: str) -> None:
    with pytest.raises(MetierError) as caught:
        read_offers(index({"name": "pdf", "files": files}), OLD_INDEX_PATH, SupplySettings())

    assert code == caught.value.code


def test_a_download_is_held_to_its_digest() -> None:
    offer = IndexedSkill("pdf", "", "archive", "u", "a" * 64)

    check_digest(offer, "a" * 64)
    with pytest.raises(IntegrityError) as caught:
        check_digest(offer, "b" * 64)

    assert "digest" == caught.value.code


def test_what_an_index_promises_has_one_digest_in_any_order() -> None:
    one, other = (
        IndexedSkill("a", "x", "archive", "u", "1"),
        IndexedSkill("b", "", "archive", "u", "2"),
    )

    assert index_digest([one, other]) == index_digest([other, one._replace(description="y")])
    assert index_digest([one, other]) != index_digest([one, other._replace(sha256="3")])
