"""Manifests, lists and plugins that were made to break whoever looks for plugins: each is a value, and the rest is still found."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from fakes.market import BARE, CLAUDE, CODEX, LIST, SCHEMA, files_of, list_of, write
from fakes.shop import Shop, document

from metier.plugins import discover, read_source
from metier.supply.model import Request, SourceSkill
from metier.supply.sources.marketplace import Marketplace, SourcePlugin

if TYPE_CHECKING:
    from pathlib import Path

    from metier.plugins.model import PluginFault, PluginOffer

SECRET = "the secret outside"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Give a machine that has one honest plugin."""
    made = Shop(tmp_path)
    write(made.home / ".claude/plugins/cache/honest/good/1.0.0", files_of("good", "pdf"))
    return made


def found(shop: Shop) -> tuple[list[PluginOffer], list[PluginFault]]:
    with shop.open() as m:
        offers, faults = discover.discover_plugins(m.context)
    json.dumps([offers, faults]).encode()  # what is told can be written down
    return list(offers), list(faults)


DEEP = "[" * 100_000
TEXTS = {
    "empty": "",
    "deep": DEEP,
    "deep inside": f'{{"name": "x", "skills": {DEEP}',
    "huge": json.dumps({"name": "x", "pad": "x" * 2_000_000}),
    "number": '{"name": "x", "version": ' + "9" * 10_000 + "}",
    "list": "[]",
    "null": "null",
    "name is a list": '{"name": ["x"]}',
    "not UTF-8": '{"name": "\udcff"}',
    "half": '{"name": "x"',
    "infinite": '{"name": "x", "version": 1e999, "n": NaN}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("where", [CLAUDE, CODEX, LIST, BARE])
def test_files_of_any_content_keep_nobody_else_s_plugin_away(
    shop: Shop, text: str, where: str
) -> None:
    write(shop.project, {where: text, "skills/x/SKILL.md": document("x")})

    offers, _faults = found(shop)

    assert "good" in {offer.plugin_id for offer in offers}


@pytest.mark.parametrize("where", [CLAUDE, LIST])
@pytest.mark.parametrize("text", ["", DEEP, "[]", '{"name": ["x"]}'])
def test_a_file_that_says_nothing_is_told(shop: Shop, text: str, where: str) -> None:
    write(shop.project, {where: text})

    offers, faults = found(shop)

    assert ["good"] == [offer.plugin_id for offer in offers]
    assert [str(shop.project / where)] == [fault.path for fault in faults]


@pytest.mark.parametrize("where", [CLAUDE, CODEX, LIST])
@pytest.mark.parametrize("behind", ["file", "folder"])
def test_a_manifest_behind_a_link_is_not_read(shop: Shop, where: str, behind: str) -> None:
    plugin = files_of(SECRET, "x") if where != LIST else list_of({"name": SECRET, "source": "./"})
    outside = write(
        shop.base / "outside", {path.rpartition("/")[2]: text for path, text in plugin.items()}
    )
    target = shop.project / where
    if behind == "file":
        target.parent.mkdir(parents=True)
        target.symlink_to(outside / target.name)
    else:
        target.parent.symlink_to(outside)

    offers, faults = found(shop)

    assert ["good"] == [offer.plugin_id for offer in offers]
    assert {"unsafe-link"} == {fault.code for fault in faults}
    assert SECRET not in f"{faults}"


@pytest.mark.parametrize("where", [CLAUDE, LIST, BARE])
def test_a_pipe_in_the_place_of_a_manifest_is_not_waited_for(shop: Shop, where: str) -> None:
    (shop.project / where).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(shop.project / where)

    offers, faults = found(shop)

    assert ["good"] == [offer.plugin_id for offer in offers]
    assert ([] if where == BARE else ["unsafe-entry"]) == [fault.code for fault in faults]


@pytest.mark.parametrize(
    "entry",
    [
        {"source": "../outside"},
        {"source": "/etc"},
        {"source": "./a/../../outside"},
        {"source": "a\\..\\..\\outside"},
        {"source": {"source": "local", "path": "../outside"}},
        {"source": "./", "skills": ["../outside/skills/x"]},
        {"source": "./", "skills": ["/etc"]},
        {"source": {"source": "url", "url": "file:///etc"}},
        {"source": {"source": "url", "url": "ext::sh -c touch canary"}},
        {"source": {"source": "github", "repo": "--upload-pack=x"}},
        {"source": "./linked"},
        {"source": "./", "skills": ["./linked/skills/x"]},
    ],
)
def test_no_entry_leads_out_of_its_marketplace(shop: Shop, entry: dict[str, Any]) -> None:
    outside = write(
        shop.base / "outside", files_of("outside", "x") | {"skills/x/secret.txt": SECRET}
    )
    write(shop.project, list_of({"name": "p", **entry}))
    (shop.project / "linked").symlink_to(outside)

    offers, _faults = found(shop)

    assert [] == [skill for offer in offers if offer.name != "good" for skill in offer.skills]


@pytest.mark.parametrize(
    "skills", [["../outside"], ["./linked"], ["./skills/../../outside"], ["skills/x\x00"], "~/x"]
)
def test_no_manifest_leads_out_of_its_plugin(shop: Shop, skills: object) -> None:
    outside = write(shop.base / "outside", {"x/SKILL.md": document("x")})
    write(shop.project, files_of("p", skills=skills))
    (shop.project / "linked").symlink_to(outside)

    with (
        shop.open() as m,
        read_source.open_source(m.context, Request("marketplace", str(shop.project))) as source,
    ):
        ships = source.shipped("p")

    assert ships is not None
    assert () == ships.skills


@pytest.mark.parametrize(
    "name",
    [
        "a\x1b[31m",
        "a\nb",
        "\u202egood",
        "../up",
        "a/b",
        "a:b",
        "con",
        "a@b",
        ".x",
        "-x",
        "x" * 10_000,
        "\ud800",
        " ",
        "a\x00",
    ],
)
@pytest.mark.parametrize("what", ["manifest", "entry", "list"])
def test_a_name_that_is_none_is_a_fault_and_no_id(shop: Shop, name: str, what: str) -> None:
    plugin = files_of(name if what == "manifest" else "p", "x", at="p")
    listed = list_of(
        {"name": name if what == "entry" else "p", "source": "./p"},
        name=name if what == "list" else "shop",
    )
    folder = write(shop.shelf / "m", plugin | (listed if what != "manifest" else {}))

    with (
        shop.open() as m,
        read_source.open_source(m.context, Request("folder", str(folder))) as source,
    ):
        offers, faults = source.plugins(), source.faults

    plain = {"p", "a b", "a", "a [31m", "?"}  # what a name of several lines or none comes to
    assert all(
        offer.name in plain
        or not any(letter in offer.name for letter in "\x1b\n\x00\u202e/:@\ud800")
        for offer in offers
    )
    assert bool(offers) != bool(faults)


def test_a_list_of_ten_thousand_plugins_is_cut_and_told(shop: Shop) -> None:
    entries = [{"name": f"p{n}", "source": "./o"} for n in range(10_000)]
    write(shop.project, files_of("o", "x", at="o") | list_of(*entries))

    offers, faults = found(shop)

    assert 2_001 == len(offers)
    assert any("2000" in fault.message for fault in faults)


def test_names_that_differ_only_in_their_case_are_one(shop: Shop) -> None:
    names = ["office", "OFFICE", "Office", "o\ufb03ce"]
    write(
        shop.project,
        files_of("o", "x", at="o") | list_of(*({"name": name, "source": "./o"} for name in names)),
    )

    offers, faults = found(shop)

    assert ["good", "office@shop"] == [offer.plugin_id for offer in offers]
    assert ["duplicate"] * 3 == [fault.code for fault in faults]


def test_a_plugin_with_ten_thousand_names_for_one_place_costs_no_more_than_its_limit(
    shop: Shop,
) -> None:
    places = [f"./{'skills/' * (n % 8)}x{n}" for n in range(10_000)]
    write(
        shop.project,
        files_of("o", "x", at="o")
        | list_of({"name": "p", "source": "./", "strict": False, "skills": places}),
    )

    offers, faults = found(shop)

    assert {"good", "p@shop"} == {offer.plugin_id for offer in offers}
    assert any("1000" in fault.message for fault in faults)


def test_renames_that_lead_in_a_circle_or_to_nobody_end(shop: Shop) -> None:
    renames = {f"n{n}": f"n{(n + 1) % 1000}" for n in range(1000)} | {"x": ["y"], "y": 7}
    write(
        shop.project,
        files_of("o", "x", at="o") | list_of({"name": "o", "source": "./o"}, renames=renames),
    )

    with shop.open() as m, pytest.raises(Exception, match="there is no plugin 'n5'"):
        discover.resolve_plugin(m.context, "n5")

    assert "o@shop" in {offer.plugin_id for offer in found(shop)[0]}


def test_folders_without_end_are_not_searched_without_end(shop: Shop) -> None:
    deep = shop.shelf / "/".join("d" * 60)
    write(deep, files_of("deep", "x"))
    (shop.shelf / "d/loop").symlink_to(shop.shelf)
    shop.configure(f"[plugins]\nsources = [{json.dumps(str(shop.shelf))}]\n")

    offers, _faults = found(shop)

    assert ["good"] == [offer.plugin_id for offer in offers]


def test_a_file_that_turns_into_something_else_while_it_is_read_is_left_out(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metier.plugins.io.plugin_folder import PluginFolder

    folder = write(shop.shelf / "p", files_of("p", "a", "b"))
    taken = PluginFolder.take

    def take(tree: PluginFolder, part: str) -> None:
        taken(tree, part)
        (folder / "skills/a/SKILL.md").unlink(missing_ok=True)
        (folder / "skills/a/SKILL.md").symlink_to("/etc/passwd")

    monkeypatch.setattr(PluginFolder, "take", take)

    with (
        shop.open() as m,
        read_source.open_source(m.context, Request("folder", str(folder))) as source,
    ):
        ships = source.shipped("p")

    assert ships is not None
    assert ["a", "b"] == [picked.name for _source, picked in ships.skills]
    assert "root:" not in f"{ships}"


def test_an_agent_plugin_of_a_thousand_unknown_fields_is_told_in_one_short_line(shop: Shop) -> None:
    write(
        shop.project,
        {
            BARE: json.dumps(
                {"$schema": SCHEMA, "name": "p", **{f"field{n:04}\n\x1b": 1 for n in range(1000)}}
            ),
            "skills/x/SKILL.md": document("x"),
        },
    )

    offers, faults = found(shop)

    assert ["good", "p"] == [offer.plugin_id for offer in offers]
    assert [True] == [
        len(fault.message) < 300 and "\x1b" not in fault.message and "995 more" in fault.message
        for fault in faults
    ]


def test_a_list_whose_plugins_all_claim_everything_costs_no_more_than_others(shop: Shop) -> None:
    plugins = tuple(SourcePlugin(f"p{number}", ("skills",)) for number in range(2_000))
    skills = [
        SourceSkill(f"s{number}", f"skills/s{number}", ())
        for number in range(read_source.MAX_CLAIMED_SKILLS // 4)
    ]

    stands, faults = read_source.offered_plugins(
        Marketplace("shop", plugins, {}, listed=True),
        skills,
        Request("folder", str(shop.shelf)),
        "",
    )

    assert (4, [(str(shop.shelf), "too-many")]) == (len(stands), [fault[:2] for fault in faults])
