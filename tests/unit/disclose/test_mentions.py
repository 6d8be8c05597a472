"""Mentions: what counts as one, and which skills they select (CX-43 to CX-45)."""

from __future__ import annotations

import pytest

from metier.disclose import mentions
from metier.disclose.mentions import Mentionable, Mentions, Selected


def skill(name: str, place: str = "", rank: int = 0) -> Mentionable:
    return Mentionable(name, place or f"/s/{name}/SKILL.md", rank)


def select(
    text: str,
    skills: list[Mentionable],
    *selections: tuple[str, str],
    connectors: tuple[str, ...] = (),
) -> Selected:
    return mentions.select_skills(mentions.find_mentions(text), selections, skills, connectors)


@pytest.mark.parametrize(
    ("text", "names", "links"),
    [
        ("use $pdf now", ["pdf"], []),
        ("$a:b_c-9", ["a:b_c-9"], []),
        ("costs $5", ["5"], []),
        ("x$pdf", ["pdf"], []),
        ("$pdf.", ["pdf"], []),
        ("$$pdf", ["pdf"], []),
        ("$pdf$brand", ["pdf", "brand"], []),
        ("$pdf $pdf", ["pdf"], []),
        ("$", [], []),
        ("$ pdf", [], []),
        ("$é", [], []),
        ("$pdfé", ["pdf"], []),
        ("[$pdf](/s/pdf/SKILL.md)", [], [("pdf", "/s/pdf/SKILL.md")]),
        ("[$pdf] \t\n(  /a b/SKILL.md )", [], [("pdf", "/a b/SKILL.md")]),
        ("[$pdf]()", ["pdf"], []),
        ("[$pdf](  )", ["pdf"], []),
        ("[$pdf](/unclosed", ["pdf"], []),
        ("[$pdf] x (/a)", ["pdf"], []),
        ("[$pdf x](/a)", ["pdf"], []),
        ("[[$pdf](/a)", [], [("pdf", "/a")]),
        ("[$a](/a) and $a", ["a"], [("a", "/a")]),
        ("[$HOME](/a)", [], []),
    ],
)
def test_mentions_of_a_text(text: str, names: list[str], links: list[tuple[str, str]]) -> None:
    assert Mentions(tuple(names), tuple(links)) == mentions.find_mentions(text)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "USER",
        "SHELL",
        "PWD",
        "TMPDIR",
        "TEMP",
        "TMP",
        "LANG",
        "TERM",
        "XDG_CONFIG_HOME",
        "path",
        "Home",
        "xdg_Config_home",
    ],
)
def test_common_variables_are_never_mentions(name: str) -> None:
    assert Mentions((), ()) == mentions.find_mentions(f"${name}")


@pytest.mark.parametrize("name", ["PATHS", "HOME_", "XDG_DATA_HOME", "EDITOR"])
def test_other_variables_may_be_names(name: str) -> None:
    assert (name,) == mentions.find_mentions(f"${name}").names


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("app://x/SKILL.md", "app"),
        ("mcp://x", "mcp"),
        ("plugin://x/SKILL.md", "plugin"),
        ("skill://x", "skill"),
        ("/a/SKILL.md", "skill"),
        ("/a/skill.MD", "skill"),
        ("C:\\a\\Skill.md", "skill"),
        ("SKILL.md", "skill"),
        ("/a/README.md", "other"),
        ("/a/xSKILL.md", "other"),
        ("App://x", "other"),
    ],
)
def test_kinds_of_paths(path: str, expected: str) -> None:
    assert expected == mentions.kind_of(path)


@pytest.mark.parametrize(
    "path", ["/s/pdf/SKILL.md", "skill:///s/pdf/SKILL.md", "\\s\\pdf\\SKILL.md"]
)
def test_a_linked_path_selects_however_it_is_written(path: str) -> None:
    assert (0,) == select(f"[$x]({path})", [skill("pdf")]).chosen


@pytest.mark.parametrize("path", ["/s/pdf/skill.md", "/s/pdf/Skill.MD", "/S/pdf/SKILL.md"])
def test_only_the_kind_of_a_path_ignores_case(path: str) -> None:
    found = select(f"[$x]({path})", [skill("pdf")])

    assert ("skill", (), (("x", path),)) == (mentions.kind_of(path), found.chosen, found.unmatched)


@pytest.mark.parametrize("prefix", ["app://", "mcp://", "plugin://"])
def test_paths_of_other_kinds_never_select_a_skill(prefix: str) -> None:
    assert Selected(()) == select(
        f"[$pdf]({prefix}s/pdf/SKILL.md)", [skill("pdf", f"{prefix}s/pdf/SKILL.md")]
    )


def test_a_linked_path_that_matches_nothing_does_not_fall_back_to_the_name() -> None:
    assert Selected((), (), (("pdf", "/else/SKILL.md"),)) == select(
        "[$pdf](/else/SKILL.md)", [skill("pdf")]
    )


def test_the_order_is_by_hand_then_links_then_names_each_in_the_order_of_the_catalogue() -> None:
    skills = [skill(name) for name in "abcdef"]

    found = select(
        "$e $a [$d](/s/d/SKILL.md) [$b](/s/b/SKILL.md)",
        skills,
        ("f", "/s/f/SKILL.md"),
        ("c", "/s/c/SKILL.md"),
    )

    assert ["f", "c", "b", "d", "a", "e"] == [skills[at].name for at in found.chosen]


@pytest.mark.parametrize(
    ("skills", "chosen", "ambiguous"),
    [
        ([skill("pdf"), skill("pdf", "/t/SKILL.md")], (), ("pdf",)),
        ([skill("pdf"), skill("pdf", "/t/SKILL.md", rank=-1)], (0,), ()),
        ([skill("PDF")], (), ()),
        ([skill("pdf", rank=-1)], (), ()),
        ([skill("pdf", rank=1), skill("pdf", "/t/SKILL.md")], (1,), ()),
        ([skill("pdf", rank=1)], (0,), ()),
        ([skill("pdf", rank=1), skill("pdf", "/t/SKILL.md", rank=1)], (), ("pdf",)),
    ],
)
def test_a_plain_name_needs_to_be_the_only_one(
    skills: list[Mentionable], chosen: tuple[int, ...], ambiguous: tuple[str, ...]
) -> None:
    assert Selected(chosen, ambiguous) == select("$pdf", skills)


def test_a_link_chooses_between_copies() -> None:
    assert (1,) == select("[$pdf](/t/SKILL.md)", [skill("pdf"), skill("pdf", "/t/SKILL.md")]).chosen


def test_a_connector_of_the_name_blocks_it_in_any_case() -> None:
    assert () == select("$Pdf", [skill("Pdf")], connectors=("pdf",)).chosen
    assert (0,) == select("[$Pdf](/s/Pdf/SKILL.md)", [skill("Pdf")], connectors=("pdf",)).chosen


@pytest.mark.parametrize("path", ["/gone/SKILL.md", "/off/SKILL.md"])
def test_a_selection_by_hand_blocks_the_plain_name_even_when_it_is_invalid_or_disabled(
    path: str,
) -> None:
    found = select("$pdf", [skill("pdf"), skill("pdf", "/off/SKILL.md", rank=-1)], ("pdf", path))

    assert Selected((), (), (("pdf", path),)) == found


def test_a_skill_selected_twice_comes_once() -> None:
    found = select("$pdf [$pdf](/s/pdf/SKILL.md)", [skill("pdf")], ("pdf", "/s/pdf/SKILL.md"))

    assert (0,) == found.chosen
