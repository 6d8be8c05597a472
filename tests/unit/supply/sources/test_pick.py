"""Which skills a source holds, and which of them a name means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha1

import pytest

from metier.errors import AmbiguousError, NotFoundError
from metier.supply.model import Item, SearchResult, SourceSkill
from metier.supply.sources.pick import SourceContents, choose, one_result, skills_in

Files = Mapping[str, str]


def document(name: str = "", more: str = "") -> str:
    return f"---\n{f'name: {name}' if name else 'license: MIT'}\ndescription: Does it.\n---\n{more}"


def items_of(files: Files) -> list[Item]:
    return [
        Item(path, len(text.encode()), "file", sha1(text.encode()).hexdigest())  # noqa: S324 - as git does
        for path, text in files.items()
    ]


def pick(files: Files, below: str = "", fallback: str = "", **more: bool) -> SourceContents:
    def read(items: Sequence[Item]) -> dict[str, bytes]:
        return {item.path: files[item.path].encode() for item in items}

    return skills_in(items_of(files), read, below, fallback=fallback, **more)


def told(found: SourceContents) -> dict[str, tuple[str, list[str]]]:
    return {skill.path: (skill.name, [item.path for item in skill.items]) for skill in found.skills}


def test_every_folder_with_a_document_is_a_skill_with_all_its_files() -> None:
    found = pick(
        {
            "README.md": "x",
            "skills/pdf/SKILL.md": document("pdf"),
            "skills/pdf/scripts/a.py": "x",
            "skills/docx/SKILL.md": document("docx"),
        }
    )

    assert {
        "skills/pdf": ("pdf", ["skills/pdf/SKILL.md", "skills/pdf/scripts/a.py"]),
        "skills/docx": ("docx", ["skills/docx/SKILL.md"]),
    } == told(found)
    assert "Does it." == found.skills[0].description


def test_a_document_at_the_top_takes_the_name_of_the_source_where_it_has_none() -> None:
    found = pick({"SKILL.md": document(), "a.txt": "x"}, fallback="my-skill")

    assert {"": ("my-skill", ["SKILL.md", "a.txt"])} == told(found)


def test_the_name_in_the_document_counts_more_than_that_of_the_folder() -> None:
    found = pick(
        {"a/SKILL.md": document("b"), "c/SKILL.md": document(), "d/SKILL.md": "no frontmatter\n"}
    )

    assert {"a": "b", "c": "c", "d": "d"} == {skill.path: skill.name for skill in found.skills}


# MT-28
def test_a_skill_inside_another_is_one_of_its_own_except_in_support_folders() -> None:
    found = pick(
        {
            "a/SKILL.md": document("a"),
            "a/x.md": "x",
            "a/b/SKILL.md": document("b"),
            "a/b/y": "y",
            "a/references/c/SKILL.md": document("c"),
            "a/b/scripts/SKILL.md": document("d"),
        }
    )

    assert {
        "a": ("a", ["a/SKILL.md", "a/x.md", "a/references/c/SKILL.md"]),
        "a/b": ("b", ["a/b/SKILL.md", "a/b/y", "a/b/scripts/SKILL.md"]),
    } == told(found)


# MT-26
def test_a_document_in_lower_case_counts_when_there_is_no_other_and_is_noted() -> None:
    found = pick(
        {"a/skill.md": document("a"), "b/skill.md": document("wrong"), "b/SKILL.md": document("b")}
    )

    assert {"a": "a", "b": "b"} == {skill.path: skill.name for skill in found.skills}
    assert ("a/skill.md should be called SKILL.md",) == found.problems


def test_hidden_folders_of_agents_are_searched_and_those_of_tools_are_not() -> None:
    hidden = [
        ".claude/skills/a",
        ".agents/skills/b",
        ".git/c",
        "x/node_modules/pkg/d",
        ".venv/lib/e",
        "x/__pycache__/f",
    ]

    found = pick({f"{folder}/SKILL.md": document(folder[-1]) for folder in hidden})

    assert ["b", "a"] == [skill.name for skill in found.skills]


def test_only_what_lies_below_a_path_is_looked_at() -> None:
    files = {
        "skills/pdf/SKILL.md": document("pdf"),
        "skills/pdf-tools/SKILL.md": document("tools"),
        "other/SKILL.md": document("other"),
    }

    found = [
        [skill.name for skill in pick(files, below).skills]
        for below in ("skills", "skills/pdf", "nowhere")
    ]

    assert [["pdf", "tools"], ["pdf"], []] == found


def test_a_repository_s_own_records_are_no_part_of_a_skill() -> None:
    found = pick(
        {"SKILL.md": document("a"), ".git/config": "x", "sub/.svn/x": "x", ".gitignore": "x"},
        fallback="a",
    )

    assert ["SKILL.md", ".gitignore"] == [item.path for item in found.skills[0].items]


def test_a_document_that_cannot_be_read_or_is_a_link_is_still_a_skill_with_a_note() -> None:
    found = skills_in([Item("a/SKILL.md", 9, "link", "k")], lambda _items: {})

    assert ("a", ("a/SKILL.md cannot be read",)) == (found.skills[0].name, found.problems)


def test_documents_are_read_a_few_at_a_time() -> None:
    sizes: list[int] = []

    def read(items: Sequence[Item]) -> dict[str, bytes]:
        sizes.append(len(items))
        return {item.path: document(item.path.partition("/")[0]).encode() for item in items}

    found = skills_in(
        [Item(f"s{number}/SKILL.md", 50, "file", "k") for number in range(2000)], read
    )

    assert (2000, 512) == (len(found.skills), max(sizes))


@pytest.mark.parametrize(
    "path",
    [
        "../SKILL.md",
        "/etc/SKILL.md",
        "a//b/SKILL.md",
        "a\\SKILL.md",
        "x/" * 100 + "SKILL.md",
        "\udcff/SKILL.md",
        "a/SKILL.md/",
        "SKILL.md",
    ],
)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff",
        b"---\nname: [" + b"[" * 10_000,
        b"---\nname: ../../x\n---\n",
        b"---\nname: " + b"x" * 100_000 + b"\n---\n",
    ],
)
def test_hostile_paths_and_documents_are_values_like_any_other(path: str, data: bytes) -> None:
    found = skills_in([Item(path, len(data), "file", "k")], lambda _items: {path: data})

    assert len(found.skills) <= 1


# --- choosing


def skills(*names: tuple[str, str]) -> SourceContents:
    return SourceContents(
        tuple(
            SourceSkill(name, path, (Item(f"{path}/SKILL.md", 1, "file", path),))
            for name, path in names
        )
    )


MANY = skills(("pdf", "skills/pdf"), ("docx", "skills/docx"), ("xlsx", "skills/xlsx"))


def test_one_skill_in_all_needs_no_name() -> None:
    found = choose(skills(("pdf", "a")), (), everything=False)

    assert ["pdf"] == [skill.name for skill in found]


@pytest.mark.parametrize("name", ["docx", "skills/docx", "./skills/docx/", "skills/docx/SKILL.md"])
def test_a_skill_is_meant_by_its_name_or_its_path(name: str) -> None:
    found = choose(MANY, [name], everything=False)

    assert ["docx"] == [skill.name for skill in found]


def test_several_names_mean_several_skills_each_once() -> None:
    found = choose(MANY, ["docx", "pdf", "skills/docx"], everything=False)

    assert ["docx", "pdf"] == [skill.name for skill in found]


def test_all_means_all() -> None:
    found = choose(MANY, (), everything=True)

    assert ["docx", "pdf", "xlsx"] == [skill.name for skill in found]


def test_a_path_that_is_a_skill_means_that_one_and_not_those_inside_it() -> None:
    found = choose(skills(("a", "x/a"), ("b", "x/a/b")), (), everything=False, below="x/a")

    assert ["a"] == [skill.name for skill in found]


# HE-41
def test_several_skills_and_no_name_list_the_candidates() -> None:
    with pytest.raises(AmbiguousError) as caught:
        choose(MANY, (), everything=False)

    assert "choose" == caught.value.code
    assert [
        {"name": "docx", "path": "skills/docx"},
        {"name": "pdf", "path": "skills/pdf"},
        {"name": "xlsx", "path": "skills/xlsx"},
    ] == [{key: one[key] for key in ("name", "path")} for one in _candidates(caught.value)]


def _candidates(error: AmbiguousError | NotFoundError) -> list[dict[str, str]]:
    found = error.details["candidates"]
    assert isinstance(found, list)
    return found


# HE-41
@pytest.mark.parametrize("everything", [False, True])
def test_a_name_that_means_two_skills_lists_both(everything: bool) -> None:
    with pytest.raises(AmbiguousError) as caught:
        choose(
            skills(("pdf", "a/pdf"), ("pdf", "b/pdf"), ("x", "x")),
            () if everything else ["pdf"],
            everything=everything,
        )

    assert ["a/pdf", "b/pdf"] == [one["path"] for one in _candidates(caught.value)]


def test_two_copies_of_the_very_same_files_are_one_skill() -> None:
    files = {
        ".claude/skills/pdf/SKILL.md": document("pdf"),
        "skills/pdf/SKILL.md": document("pdf"),
        "skills/docx/SKILL.md": document("docx"),
    }

    found = choose(pick(files), ["pdf"], everything=False)

    assert ["skills/pdf"] == [skill.path for skill in found]


def test_a_name_that_is_not_there_tells_the_nearest() -> None:
    with pytest.raises(NotFoundError) as caught:
        choose(MANY, ["pfd"], everything=False)

    assert "pdf" in caught.value.hint
    assert 3 == len(_candidates(caught.value))


def test_a_source_without_a_skill_says_so() -> None:
    with pytest.raises(NotFoundError) as caught:
        choose(SourceContents((), ("a note",)), (), everything=False)

    assert ("no-skill", True) == (caught.value.code, "a note" in caught.value.message)


def test_names_of_a_hundred_thousand_letters_are_cut_in_errors() -> None:
    with pytest.raises(AmbiguousError) as caught:
        choose(skills(("x" * 100_000, "a"), ("y\x1b[2J", "b")), (), everything=False)

    assert 2000 > len(str(caught.value.as_dict()))


# --- a short name among the results of a search


# HE-41
def test_a_short_name_must_match_exactly_one_result() -> None:
    results = [
        SearchResult("pdf", "", "o/r --skill pdf", "trusted"),
        SearchResult("pdf-tools", "", "a/b --skill pdf-tools", "community"),
    ]

    assert results[0] == one_result("pdf", results)


# HE-41
def test_a_short_name_in_two_sources_lists_them() -> None:
    results = [SearchResult("pdf", "", source, "community") for source in ("o/r", "a/b", "o/r")]

    with pytest.raises(AmbiguousError) as caught:
        one_result("pdf", results)

    assert ["o/r", "a/b"] == [one["source"] for one in _candidates(caught.value)]


def test_a_short_name_in_no_source_tells_the_nearest() -> None:
    with pytest.raises(NotFoundError) as caught:
        one_result("pfd", [SearchResult("pdf", "", "o/r", "community")])

    assert "pdf" in caught.value.hint


def test_of_very_many_faults_some_are_told_and_the_rest_counted() -> None:
    items = [Item(f"d{at}/skill.md", 1, "file", f"k{at}") for at in range(1000)]

    found = skills_in(items, lambda wanted: {item.path: b"x" for item in wanted})

    assert (1000, 101) == (len(found.skills), len(found.problems))
    assert "and 900 more of that" == found.problems[-1]
