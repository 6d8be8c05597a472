"""What an opened source of plugins offers, and what one plugin of it ships."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING, Any

import pytest
from fakes.market import BARE, CLAUDE, CODEX, CURSOR, FORMATS, files_of, list_of, write
from fakes.repositories import Repository
from fakes.shop import FakeFetcher, Shop, document

from metier.errors import MetierError, RefusedError, SourceError, UsageError
from metier.plugins import read_source
from metier.supply import fetch
from metier.supply.fetch import FetchedSkill
from metier.supply.model import Request, SourceSkill

if TYPE_CHECKING:
    from pathlib import Path

    from metier.library import Library
    from metier.plugins.model import PluginFault, PluginOffer
    from metier.plugins.read_source import ShippedPlugin


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def at(path: Path, kind: Any = "folder") -> Request:
    return Request(kind, str(path))


def offers(library: Library, request: Request) -> list[PluginOffer]:
    with read_source.open_source(library.context, request) as source:
        return list(source.plugins())


def shipped(library: Library, request: Request, name: str) -> ShippedPlugin | None:
    with read_source.open_source(library.context, request) as source:
        return source.shipped(name)


def skills_of(found: ShippedPlugin | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(picked.name, picked.path) for _source, picked in found.skills]


def faults_of(library: Library, request: Request, name: str = "") -> list[PluginFault]:
    with read_source.open_source(library.context, request) as source:
        if name:
            source.shipped(name)
        return list(source.faults)


# --- the formats


@pytest.mark.parametrize("where", FORMATS)
def test_a_plugin_of_each_format_ships_its_skills(shop: Shop, where: str) -> None:
    folder = write(shop.shelf / "office", files_of("office", "docx", "pdf", where=where))

    with shop.open() as m:
        found = offers(m, at(folder))
        ships = shipped(m, at(folder), "office")

    assert [("office", "office", "1.0.0", "Has office.", FORMATS[where], ("docx", "pdf"))] == [
        (one.plugin_id, one.name, one.version, one.description, one.format, one.skills)
        for one in found
    ]
    assert [("docx", "skills/docx"), ("pdf", "skills/pdf")] == skills_of(ships)


def test_of_several_manifests_of_one_plugin_the_first_that_can_be_read_counts(shop: Shop) -> None:
    folder = write(
        shop.shelf / "p",
        files_of("one", "a", where=CURSOR) | files_of("two", "a", where=CLAUDE) | {CODEX: "{"},
    )

    with shop.open() as m:
        found, faults = offers(m, at(folder)), faults_of(m, at(folder))

    assert [("two", "claude")] == [(one.name, one.format) for one in found]
    assert [(f"{folder}/{CODEX}", "malformed")] == [fault[:2] for fault in faults]


@pytest.mark.parametrize(
    ("skills", "expected"),
    [
        (None, ["skills/a"]),
        ("./more", ["more/b"]),
        (["./more/b", "./skills"], ["more/b", "skills/a"]),
        (["./"], ["more/b", "skills/a"]),
    ],
)
def test_a_manifest_says_where_its_skills_lie(
    shop: Shop, skills: object, expected: list[str]
) -> None:
    fields: dict[str, Any] = {"skills": skills} if skills else {}
    folder = write(
        shop.shelf / "p", files_of("p", "a", **fields) | {"more/b/SKILL.md": document("b")}
    )

    with shop.open() as m:
        found = skills_of(shipped(m, at(folder), "p"))

    assert expected == [path for _name, path in found]


@pytest.mark.parametrize("fields", [{}, {"skills": ["./"]}])
def test_a_plugin_may_be_one_skill_at_its_top(shop: Shop, fields: dict[str, Any]) -> None:
    folder = write(
        shop.shelf / "p",
        files_of("p", **fields) | {"SKILL.md": document("one"), "scripts/run.sh": "true\n"},
    )

    with shop.open() as m:
        ships = shipped(m, at(folder), "p")

    assert [("one", "")] == skills_of(ships)
    assert ships is not None
    assert {"SKILL.md", "scripts/run.sh", CLAUDE} == {
        item.path for item in ships.skills[0][1].items
    }


def test_a_plugin_without_skills_does_not_ship_what_happens_to_lie_in_it(shop: Shop) -> None:
    folder = write(
        shop.shelf / "p",
        files_of("p") | {"tests/fixture/SKILL.md": document("fixture"), "commands/x.md": "x"},
    )

    with shop.open() as m:
        found = skills_of(shipped(m, at(folder), "p"))

    assert [] == found


def test_an_agent_plugin_has_one_place_for_skills_and_a_closed_list_of_fields(shop: Shop) -> None:
    more = {"more/b/SKILL.md": document("b"), "SKILL.md": document("top")}
    folder = write(
        shop.shelf / "p", files_of("p", "a", where=BARE, skills=["./more"], hooks={}) | more
    )

    with shop.open() as m:
        found, faults = skills_of(shipped(m, at(folder), "p")), faults_of(m, at(folder))

    assert [("a", "skills/a")] == found
    assert [("malformed", "plugin p: fields that Agent Plugins does not have: hooks, skills")] == [
        fault[1:] for fault in faults
    ]


@pytest.mark.parametrize("name", ["Office", "my_plugin", "x" * 65, "a b"])
def test_an_agent_plugin_with_a_name_that_its_format_does_not_allow_is_a_fault(
    shop: Shop, name: str
) -> None:
    folder = write(shop.shelf / "p", files_of(name, "a", where=BARE))

    with shop.open() as m:
        found, faults = offers(m, at(folder)), faults_of(m, at(folder))

    assert [] == found
    assert "malformed" in {fault.code for fault in faults}


# --- marketplaces


@pytest.mark.parametrize("kind", ["folder", "marketplace"])
def test_a_marketplace_lists_its_plugins_under_its_own_name(shop: Shop, kind: str) -> None:
    listed = list_of(
        {"name": "office", "source": "./plugins/office", "version": "2"},
        {"name": "media", "source": "./plugins/media"},
    )
    folder = write(
        shop.shelf / "m",
        files_of("x", "pdf", at="plugins/office")
        | files_of("media", "mp3", at="plugins/media", where=CODEX)
        | listed,
    )

    with shop.open() as m:
        found = offers(m, at(folder, kind))

    assert [
        ("office@shop", "2", "claude", ("pdf",)),
        ("media@shop", "1.0.0", "codex", ("mp3",)),
    ] == [(one.plugin_id, one.version, one.format, one.skills) for one in found]
    assert {at(folder, kind)} == {one.source for one in found}


def test_an_entry_stands_in_for_a_manifest_and_two_may_share_a_skill(shop: Shop) -> None:
    entries = [
        {
            "name": name,
            "source": "./",
            "strict": False,
            "skills": [f"./skills/{one}" for one in skills],
        }
        for name, skills in (("documents", ("pdf", "docx")), ("examples", ("art", "pdf")))
    ]
    folder = write(
        shop.shelf / "m",
        {f"skills/{one}/SKILL.md": document(one) for one in ("pdf", "docx", "art", "other")}
        | list_of(*entries),
    )

    with shop.open() as m:
        found = offers(m, at(folder))

    assert [
        ("documents@shop", "marketplace", ("docx", "pdf")),
        ("examples@shop", "marketplace", ("art", "pdf")),
    ] == [(one.plugin_id, one.format, one.skills) for one in found]


def test_a_root_for_plugins_goes_before_their_paths(shop: Shop) -> None:
    files = files_of("office", "pdf", at="plugins/office") | list_of(
        {"name": "office", "source": "office"}, metadata={"pluginRoot": "./plugins"}
    )
    folder = write(shop.shelf / "m", files)

    with shop.open() as m:
        found = skills_of(shipped(m, at(folder), "office"))

    assert [("pdf", "plugins/office/skills/pdf")] == found


def test_a_renamed_plugin_is_followed_and_a_circle_of_names_ends(shop: Shop) -> None:
    renames = {"old": "older", "older": "office", "a": "b", "b": "a"}
    folder = write(
        shop.shelf / "m",
        files_of("office", "pdf", at="o")
        | list_of({"name": "office", "source": "./o"}, renames=renames),
    )

    with shop.open() as m:
        found = [shipped(m, at(folder), name) for name in ("old", "a", "nobody")]

    assert ["office@shop", None, None] == [one and one.offer.plugin_id for one in found]


def test_a_manifest_at_the_top_that_the_list_leaves_out_is_a_plugin_too(shop: Shop) -> None:
    files = (
        files_of("tool", "top")
        | files_of("office", "pdf", at="o")
        | list_of({"name": "office", "source": "./o"})
    )
    folder = write(shop.shelf / "m", files)

    with shop.open() as m:
        found = offers(m, at(folder))

    assert [("office@shop", ("pdf",)), ("tool", ("top",))] == [
        (one.plugin_id, one.skills) for one in found
    ]


def test_a_marketplace_in_a_large_project_reads_only_what_it_names(shop: Shop) -> None:
    shop.configure("[supply]\nfiles = 20\n")
    rest = {f"node_modules/x{n}/index.js": "x" for n in range(30)}
    entries = [{"name": "top", "source": "./"}, {"name": "office", "source": "./o"}]
    folder = write(
        shop.shelf / "m",
        files_of("top", "a") | files_of("office", "pdf", at="o") | list_of(*entries) | rest,
    )

    with shop.open() as m:
        found, faults = offers(m, at(folder)), faults_of(m, at(folder))

    assert [("a",), ("pdf",)] == [one.skills for one in found]
    assert [] == faults


def test_a_plugin_of_too_many_files_is_a_fault_of_that_one_alone(shop: Shop) -> None:
    shop.configure("[supply]\nfiles = 20\n")
    many = {f"big/skills/x/{n}.txt": "x" for n in range(30)}
    entries = [{"name": "big", "source": "./big"}, {"name": "office", "source": "./o"}]
    folder = write(
        shop.shelf / "m",
        files_of("big", "x", at="big")
        | files_of("office", "pdf", at="o")
        | list_of(*entries)
        | many,
    )

    with shop.open() as m:
        found, faults = offers(m, at(folder)), faults_of(m, at(folder))

    assert ["office@shop"] == [one.plugin_id for one in found]
    assert "too-many" in {fault.code for fault in faults}


def test_a_folder_of_plugins_without_a_list_is_searched_and_a_marketplace_is_not(
    shop: Shop,
) -> None:
    folder = write(
        shop.shelf / "all",
        files_of("a", "x", at="one/a")
        | files_of("b", "y", at="b", where=BARE)
        | {"c/plugin.json": "{}"},
    )

    with shop.open() as m:
        found = [
            [one.plugin_id for one in offers(m, at(folder, kind))]
            for kind in ("folder", "marketplace")
        ]

    assert [["b", "a"], []] == [sorted(one, reverse=True) for one in found]


def test_of_several_versions_side_by_side_the_highest_is_shipped(shop: Shop) -> None:
    folder = shop.shelf / "office"
    for version in ("1.9.0", "1.10.0", "1.2.0"):
        write(folder, files_of("office", f"s{version}", at=version, version=version))

    with shop.open() as m:
        found, faults = offers(m, at(folder)), faults_of(m, at(folder))

    assert [("office", "1.10.0", ("s1.10.0",))] == [
        (one.plugin_id, one.version, one.skills) for one in found
    ]
    assert [] == faults


def test_two_plugins_of_one_name_in_a_source_are_a_fault_and_the_first_counts(shop: Shop) -> None:
    files = files_of("one", "a", at="a") | files_of("ONE", "b", at="b")
    folder = write(
        shop.shelf / "m",
        files | list_of({"name": "one", "source": "./a"}, {"name": "ONE", "source": "./b"}),
    )

    with shop.open() as m:
        found, faults = offers(m, at(folder)), faults_of(m, at(folder))

    assert [("one@shop", ("a",))] == [(one.plugin_id, one.skills) for one in found]
    assert [("duplicate", "'ONE' is there twice: a and b; the first counts")] == [
        fault[1:] for fault in faults
    ]


# --- what is wrong


def test_a_broken_manifest_keeps_its_plugin_away_and_no_other(shop: Shop) -> None:
    files = (
        files_of("bad", "x", at="bad")
        | files_of("good", "y", at="good")
        | {f"bad/{CLAUDE}": '{"name": '}
    )
    folder = write(
        shop.shelf / "m",
        files | list_of({"name": "bad", "source": "./bad"}, {"name": "good", "source": "./good"}),
    )

    with shop.open() as m:
        found, faults, ships = (
            offers(m, at(folder)),
            faults_of(m, at(folder)),
            shipped(m, at(folder), "bad"),
        )

    assert ["good@shop"] == [one.plugin_id for one in found]
    assert [(f"{folder}/bad/{CLAUDE}", "malformed")] == [fault[:2] for fault in faults]
    assert ships is None


def test_a_plugin_whose_manifest_is_gone_ships_nothing(shop: Shop) -> None:
    folder = write(shop.shelf / "p", files_of("p", "a"))
    (folder / CLAUDE).unlink()

    with shop.open() as m:
        found = shipped(m, at(folder), "p")

    assert found is None


def test_a_folder_that_is_gone_is_an_error(shop: Shop) -> None:
    with shop.open() as m, pytest.raises(SourceError) as caught:
        offers(m, at(shop.shelf / "nowhere"))

    assert "not-found" == caught.value.code


def test_skills_of_one_name_are_a_fault_and_neither_is_shipped(shop: Shop) -> None:
    folder = write(
        shop.shelf / "p",
        files_of("p", "a")
        | {"skills/b/SKILL.md": document("PDF"), "skills/c/SKILL.md": document("pdf")},
    )

    with shop.open() as m:
        ships = shipped(m, at(folder), "p")

    assert ships is not None
    assert [("a", "skills/a")] == skills_of(ships)
    assert [("collision", "skill PDF: the plugin has 2 of this name: skills/b, skills/c")] == [
        fault[1:] for fault in ships.faults
    ]
    assert ("PDF", "pdf") == ships.withheld


@pytest.mark.parametrize("name", ["../up", "a/b", "con", ".hidden", "a\u202eb"])
def test_a_skill_whose_name_is_no_folder_s_is_a_fault_of_that_skill(shop: Shop, name: str) -> None:
    folder = write(shop.shelf / "p", files_of("p", "a") | {"skills/b/SKILL.md": document(name)})

    with shop.open() as m:
        ships = shipped(m, at(folder), "p")

    assert ships is not None
    assert ["a"] == [name for name, _path in skills_of(ships)]
    assert ["unsafe-path"] == [fault.code for fault in ships.faults]


# --- links


def in_git(shop: Shop, folder: Path) -> Request:
    repository = Repository(shop.base / "repository")
    repository.commit({})
    for path in sorted(folder.rglob("*")):
        target = repository.path / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            target.symlink_to(path.readlink())
        elif path.is_file():
            target.write_bytes(path.read_bytes())
    repository.commit({})
    return Request("git", repository.address)


def in_archive(shop: Shop, folder: Path) -> Request:
    with tarfile.open(shop.base / "p.tar", "w") as packed:
        packed.add(folder, ".")
    return Request("archive", str(shop.base / "p.tar"))


@pytest.mark.parametrize(
    "how", [lambda _shop, folder: at(folder), in_git, in_archive], ids=["folder", "git", "archive"]
)
def test_links_to_files_and_to_folders_are_seen_in_every_kind_of_source(
    shop: Shop, how: Any
) -> None:
    # BE-10
    folder = write(shop.shelf / "p", files_of("p", "a", "b") | {"shared/x.txt": "x"})
    (folder / "skills/a/file.txt").symlink_to("../../shared/x.txt")
    (folder / "skills/a/refs").mkdir()
    (folder / "skills/a/refs/all").symlink_to("../../../shared")

    with shop.open() as m:
        ships = shipped(m, how(shop, folder), "p")

    assert ships is not None
    assert {"a": ("file.txt", "refs/all"), "b": ()} == {
        picked.name: read_source.links_in(picked) for _source, picked in ships.skills
    }


def test_the_message_about_a_link_names_it() -> None:
    # BE-10
    told = read_source.SYMLINK_MESSAGE.format("refs/all")

    assert "Skill tree contains a symlink: refs/all" == told


@pytest.mark.parametrize("how", [lambda _shop, folder: at(folder), in_git], ids=["folder", "git"])
def test_a_link_in_the_place_of_a_skill_is_told(shop: Shop, how: Any) -> None:
    folder = write(shop.shelf / "p", files_of("p", "a") | {"shared/x/SKILL.md": document("x")})
    (folder / "skills/x").symlink_to("../shared/x")

    with shop.open() as m:
        ships = shipped(m, how(shop, folder), "p")

    assert ships is not None
    assert [("a", "skills/a")] == skills_of(ships)
    assert (["unsafe-link"], ("x",)) == ([fault.code for fault in ships.faults], ships.withheld)


def test_a_link_in_the_place_of_all_skills_is_told(shop: Shop) -> None:
    folder = write(shop.shelf / "p", files_of("p") | {"shared/x/SKILL.md": document("x")})
    (folder / "skills").symlink_to("shared")

    with shop.open() as m:
        found = shipped(m, at(folder), "p")

    assert [] == skills_of(found)
    assert found is not None
    assert ["unsafe-link"] == [fault.code for fault in found.faults]


def test_the_links_of_a_skill_at_the_top_have_whole_paths() -> None:
    from metier.supply.model import Item

    picked = SourceSkill("x", "", (Item("SKILL.md", 1, "file"), Item("a/b", 0, "link")))

    assert ("a/b",) == read_source.links_in(picked)


# --- repositories, and what they lead to


def test_a_repository_is_opened_again_from_what_was_noted_alone(shop: Shop) -> None:
    repository = Repository(shop.base / "repository")
    first = repository.commit(
        files_of("office", "pdf", at="o") | list_of({"name": "office", "source": "./o"})
    )
    request = Request("git", repository.address)
    with shop.open() as m:
        before = shipped(m, request, "office")
        second = repository.commit({"o/skills/ocr/SKILL.md": document("ocr")})
        newest = read_source.newest_commit(m.context, request)
        after = shipped(m, request, "office")

    assert before is not None
    assert after is not None
    assert (first, second, second) == (before.commit, newest, after.commit)
    assert ["ocr", "pdf"] == [name for name, _path in skills_of(after)]


def test_what_is_shipped_can_be_laid_on_a_desk_while_it_is_open(shop: Shop) -> None:
    folder = write(shop.shelf / "p", files_of("p", "a"))

    with (
        shop.open() as m,
        read_source.open_source(m.context, at(folder)) as source,
        fetch.open_quarantine(m.context) as desk,
    ):
        ships = source.shipped("p")
        assert ships is not None
        laid = [fetch.lay_out(m.context, desk, one, picked) for one, picked in ships.skills]

    assert [["SKILL.md"]] == [
        [file.path for file in one.files] for one in laid if isinstance(one, FetchedSkill)
    ]


def test_folders_are_local_and_have_no_newest(shop: Shop) -> None:
    with shop.open() as m:
        found = (
            read_source.newest_commit(m.context, at(shop.shelf)),
            read_source.newest_commit(m.context, at(shop.shelf, "marketplace")),
        )

    assert ("", "") == found
    assert [True, True, False, False, False] == [
        read_source.is_local(one)
        for one in (
            at(shop.shelf),
            at(shop.shelf, "marketplace"),
            Request("archive", "/x.zip"),
            Request("git", f"file://{shop.shelf}"),
            Request("marketplace", "https://h/x.git"),
        )
    ]


class Forge(FakeFetcher):
    """Stands behind `Fetcher`: each repository of it has its own files."""

    def __init__(self, **files: dict[str, str]) -> None:
        super().__init__({})
        self.all = files

    def open(self, request: Request) -> Any:
        """Open one."""
        name = request.location.rpartition("/")[2]
        if name not in self.all:
            raise SourceError("there is no such repository", code="not-found")
        self.files = {path: text.encode() for path, text in self.all[name].items()}
        return super().open(request)


def led(*entries: dict[str, Any]) -> dict[str, str]:
    return list_of(*entries)


def test_a_plugin_that_lies_elsewhere_is_opened_there_once_and_only_when_it_is_asked_for(
    shop: Shop,
) -> None:
    folder = write(
        shop.shelf / "m",
        led(
            {"name": "office", "source": {"source": "github", "repo": "o/office"}},
            {"name": "local", "source": "./l"},
        )
        | files_of("l", "z", at="l"),
    )
    forge = Forge(
        office=files_of("own-name", "pdf", version="3", where=CODEX)
        | led({"name": "another", "source": "./x"})
    )

    with shop.open() as m:
        m.context.fetchers = {"git": forge}
        with read_source.open_source(m.context, at(folder)) as source:
            before = list(forge.asked)
            known = source.plugins()
            ships = [source.shipped(name) for name in ("office", "local", "office")]

    assert [] == before
    assert [("office@shop", "marketplace", ()), ("local@shop", "claude", ("z",))] == [
        (one.plugin_id, one.format, one.skills) for one in known
    ]
    assert ships[0] is not None
    assert ("office@shop", "3", "codex", ("pdf",), forge.commit) == (
        *ships[0].offer[:1],
        *ships[0].offer[2:3],
        ships[0].offer.format,
        ships[0].offer.skills,
        ships[0].commit,
    )
    assert (1, ["https://github.com/o/office"]) == (
        len(forge.asked),
        [one[0].request.location for one in ships[0].skills],
    )


@pytest.mark.parametrize(
    ("source", "more", "expected"),
    [
        (
            {"source": "git-subdir", "url": "o/mono", "path": "plugins/a"},
            {},
            ["plugins/a/skills/x"],
        ),
        (
            {"source": "github", "repo": "o/mono", "path": "plugins/a"},
            {"strict": False},
            ["plugins/a/skills/x"],
        ),
        (
            {"source": "github", "repo": "o/mono"},
            {"strict": False, "skills": ["./loose/y", "plugins/a/skills/x"]},
            ["loose/y", "plugins/a/skills/x"],
        ),
        ({"source": "github", "repo": "o/mono", "path": "gone"}, {}, None),
    ],
)
def test_an_entry_for_another_repository_says_where_in_it_the_skills_lie(
    shop: Shop, source: dict[str, Any], more: dict[str, Any], expected: list[str] | None
) -> None:
    folder = write(shop.shelf / "m", led({"name": "p", "source": source, **more}))
    forge = Forge(
        mono=files_of("a", "x", at="plugins/a")
        | files_of("b", "z", at="plugins/b")
        | {"loose/y/SKILL.md": document("y")}
    )

    with shop.open() as m:
        m.context.fetchers = {"git": forge}
        found = shipped(m, at(folder), "p")

    assert expected == (None if found is None else [path for _name, path in skills_of(found)])


def test_a_plugin_elsewhere_that_cannot_be_reached_is_an_error_and_one_with_a_broken_manifest_a_fault(
    shop: Shop,
) -> None:
    entries = [
        {"name": name, "source": {"source": "github", "repo": f"o/{name}"}}
        for name in ("gone", "broken")
    ]
    folder = write(shop.shelf / "m", led(*entries))

    with shop.open() as m:
        m.context.fetchers = {
            "git": Forge(broken={CLAUDE: "[]", "skills/x/SKILL.md": document("x")})
        }
        with read_source.open_source(m.context, at(folder)) as source:
            broken, faults = source.shipped("broken"), source.faults
            with pytest.raises(MetierError) as caught:
                source.shipped("gone")

    assert "not-found" == caught.value.code
    assert (None, ["malformed"]) == (broken, [fault.code for fault in faults])


def test_a_marketplace_leads_to_so_many_sources_and_no_more(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MAX_OTHER_SOURCES", 2)
    names = ["a", "b", "c"]
    folder = write(
        shop.shelf / "m",
        led(
            *({"name": name, "source": {"source": "github", "repo": f"o/{name}"}} for name in names)
        ),
    )

    with shop.open() as m:
        m.context.fetchers = {"git": Forge(**{name: files_of(name, "x") for name in names})}
        with read_source.open_source(m.context, at(folder)) as source:
            found = [source.shipped(name) is not None for name in ("a", "b", "a")]
            with pytest.raises(RefusedError) as caught:
                source.shipped("c")

    assert [True, True, True] == found
    assert "too-many" == caught.value.code


def test_a_record_cannot_call_a_folder_as_a_trusted_source_is_called(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "anthropics" / "skills").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with (
        shop.open() as m,
        pytest.raises(UsageError),
        read_source.open_source(m.context, Request("folder", "anthropics/skills")),
    ):
        pass
