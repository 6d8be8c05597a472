"""`why` says what plugins have to do with a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.mirrors import a_binding, a_candidate, a_mirror, a_plugin, a_skill
from fakes.shop import Shop, write_skill

from metier.errors import NotFoundError
from metier.plugins import mirror_store
from metier.plugins.mirror_json import mirror_bytes
from metier.plugins.model import Binding, Mirror
from metier.supply import places

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def note(shop: Shop, mirror: Mirror | bytes) -> None:
    """Write down what is mirrored in the project."""
    with shop.open() as library:
        file = mirror_store.file_of(library.context, places.place_of(library.context, user=False))
    (shop.data / "plugins").mkdir(parents=True)
    with open(file, "wb") as opened:
        opened.write(mirror if isinstance(mirror, bytes) else mirror_bytes(mirror))


def reasons(shop: Shop, name: str) -> tuple[str, ...]:
    with shop.open() as library:
        answer = library.why(name)
    return next(one.reasons for one in answer.candidates if one.path == str(shop.working(name)))


def test_the_working_copy_of_a_plugin_says_so(shop: Shop) -> None:
    write_skill(shop.working("pdf"), "pdf")
    note(shop, a_mirror("pdf"))

    assert "mirrored from the plugin office (v0001)" in reasons(shop, "pdf")


def test_an_update_that_waits_is_told_with_what_shows_it(shop: Shop) -> None:
    write_skill(shop.working("pdf"), "pdf")
    skill, one = a_skill(), a_candidate()
    waits = a_plugin()._replace(
        skills=(a_binding(skill, status="update_pending", pending=one.id),), status="paused"
    )
    note(shop, Mirror("", (waits,), (skill,), (one,)))

    assert (
        "mirrored from the plugin office (v0001)",
        "the plugin is paused: metier plugin resume office",
        f"an update waits: metier review show {one.id}",
    ) == reasons(shop, "pdf")[-3:]


def test_an_adopted_skill_is_ones_own(shop: Shop) -> None:
    write_skill(shop.working("pdf"), "pdf")
    note(shop, Mirror(skills=(a_skill(owner="user", lineage="adopted_from_plugin:office"),)))

    assert "adopted from the plugin office (v0001): it is your own" in reasons(shop, "pdf")


def test_a_copy_of_the_same_name_at_another_place_is_not_called_mirrored(shop: Shop) -> None:
    write_skill(shop.working("pdf"), "pdf")
    write_skill(shop.home / ".agents/skills/pdf", "pdf")
    note(shop, a_mirror("pdf"))

    with shop.open() as library:
        answer = library.why("pdf")

    told = {
        one.path: any("mirrored" in reason for reason in one.reasons) for one in answer.candidates
    }
    assert {str(shop.working("pdf")): True, str(shop.home / ".agents/skills/pdf"): False} == told


@pytest.mark.parametrize(
    ("why", "said", "hint"),
    [
        ("plugin_disabled:office", "its plugin office is disabled", "metier plugin enable office"),
        (
            "plugin_removed:office",
            "its plugin office no longer has it",
            "its versions are kept: metier history pdf",
        ),
    ],
)
@pytest.mark.parametrize("asked", ["pdf", "PDF"])
def test_a_name_that_is_gone_with_its_plugin_says_why(
    shop: Shop, why: str, said: str, hint: str, asked: str
) -> None:
    note(shop, Mirror(skills=(a_skill(status="disabled", why=why),)))

    with shop.open() as library, pytest.raises(NotFoundError) as caught:
        library.why(asked)

    assert f"'pdf' is disabled: {said}" == caught.value.message
    assert hint == caught.value.hint


def test_a_skill_that_waits_for_a_first_yes_says_so(shop: Shop) -> None:
    waits = Binding("xlsx", "skills/xlsx", "", "", "", "new", "plugin-add:office:xlsx:0")
    note(shop, Mirror(plugins=(a_plugin()._replace(skills=(waits,)),)))

    with shop.open() as library, pytest.raises(NotFoundError) as caught:
        library.why("xlsx")

    assert "metier review show plugin-add:office:xlsx:0" == caught.value.hint


def test_a_name_that_no_plugin_has_is_not_found_as_ever(shop: Shop) -> None:
    note(shop, a_mirror("pdf"))

    with shop.open() as library, pytest.raises(NotFoundError) as caught:
        library.why("nobody")

    assert "nobody" in caught.value.message
    assert "disabled" not in caught.value.message


def test_notes_that_cannot_be_read_are_a_warning_and_the_answer_stands(shop: Shop) -> None:
    write_skill(shop.working("pdf"), "pdf")
    note(shop, b"{")

    with shop.open() as library:
        answer = library.why("pdf")
        warnings = [*library.context.warnings]

    assert [str(shop.working("pdf"))] == [one.path for one in answer.candidates]
    assert any("mirrored plugins cannot be read" in line for line in warnings)


def test_whoever_asks_about_one_skill_does_not_wait_for_a_scan_of_the_others(shop: Shop) -> None:
    skills = shop.home / ".agents" / "skills"
    for name in ("pdf", "mail", "weather"):
        write_skill(skills / name, name)

    with shop.open() as library:
        library.why("pdf")

        assert ["pdf"] == [card.name for card in library.skills(all=True) if card.verdict]
