"""Which plugins are found without asking anybody, and which one somebody means."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from fakes.market import BARE, CLAUDE, CODEX, FORMATS, LIST, files_of, list_of, write
from fakes.repositories import Repository
from fakes.shop import Shop, document

from metier.errors import AmbiguousError, NotFoundError, UsageError
from metier.plugins import discover, read_source
from metier.supply.model import Request
from metier.supply.sources.marketplace import MARKETS

if TYPE_CHECKING:
    from pathlib import Path

    from metier.plugins.model import PluginFault, PluginOffer


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def found(shop: Shop, **env: str) -> tuple[list[PluginOffer], list[PluginFault]]:
    with shop.open(shop.project, **env) as m:
        offers, faults = discover.discover_plugins(m.context)
    return list(offers), list(faults)


def ids(shop: Shop, **env: str) -> list[str]:
    return [offer.plugin_id for offer in found(shop, **env)[0]]


def configure(shop: Shop, *sources: str, taps: tuple[str, ...] = ()) -> None:
    shop.configure(
        f"[plugins]\nsources = {json.dumps(sources)}\n[supply]\ntaps = {json.dumps(taps)}\n"
    )


def test_where_there_is_nothing_nothing_is_found(shop: Shop) -> None:
    offers, faults = found(shop)

    assert ([], []) == (offers, faults)
    assert not shop.data.joinpath("cache/git").exists()


# --- the project


@pytest.mark.parametrize("where", FORMATS)
def test_a_manifest_at_the_top_of_the_project_is_found(shop: Shop, where: str) -> None:
    write(
        shop.project,
        files_of("tool", "lint", where=where) | {"deep/inside/skills/x/SKILL.md": document("x")},
    )

    offers, faults = found(shop)

    assert [("tool", FORMATS[where], ("lint",), "the project")] == [
        (one.plugin_id, one.format, one.skills, one.told_by) for one in offers
    ]
    assert [] == faults


@pytest.mark.parametrize("where", MARKETS)
def test_each_list_at_the_top_of_the_project_is_found(shop: Shop, where: str) -> None:
    listed = list_of(
        {
            "name": "office",
            "source": {"source": "local", "path": "./o"},
            "policy": {"installation": "AVAILABLE"},
        },
        where=where,
        interface={"displayName": "Shop"},
    )
    write(shop.project, files_of("office", "pdf", at="o", where=CODEX) | listed)

    offers, faults = found(shop)

    assert [("office@shop", "codex", ("pdf",))] == [
        (one.plugin_id, one.format, one.skills) for one in offers
    ]
    assert [] == faults


def test_a_project_is_not_searched_for_plugins_that_nothing_names(shop: Shop) -> None:
    write(shop.project, files_of("fixture", "x", at="tests/fixture"))

    offers = ids(shop)

    assert [] == offers


def test_what_was_found_in_the_project_opens_again(shop: Shop) -> None:
    write(shop.project, files_of("tool", "lint") | {"node_modules/x/SKILL.md": document("x")})
    offers, _faults = found(shop)

    with (
        shop.open() as m,
        read_source.open_source(m.context, offers[0].source._replace(said="")) as source,
    ):
        ships = source.shipped("tool")

    assert ships is not None
    assert ["skills/lint"] == [picked.path for _source, picked in ships.skills]


# --- the agents


@pytest.mark.parametrize(
    ("folder", "where"), [(".claude/plugins/cache", CLAUDE), (".codex/plugins/cache", CODEX)]
)
def test_plugins_that_an_agent_keeps_are_found_once_in_their_highest_version(
    shop: Shop, folder: str, where: str
) -> None:
    for version in ("0.9.0", "0.10.0"):
        write(
            shop.home / folder / "shop/office" / version,
            files_of("office", "pdf", where=where, version=version),
        )

    offers, faults = found(shop)

    assert [("office", "0.10.0", str(shop.home / folder / "shop/office"))] == [
        (one.plugin_id, one.version, one.source.location) for one in offers
    ]
    assert [] == faults


def test_the_next_version_in_an_agent_s_cache_is_what_opening_it_again_gives(shop: Shop) -> None:
    cache = shop.home / ".claude/plugins/cache/shop/office"
    write(cache / "1.0.0", files_of("office", "pdf"))
    offers, _faults = found(shop)
    write(cache / "1.1.0", files_of("office", "pdf", "ocr", version="1.1.0"))

    with shop.open() as m, read_source.open_source(m.context, offers[0].source) as source:
        ships = source.shipped("office")

    assert ships is not None
    assert ("1.1.0", ("ocr", "pdf")) == (ships.offer.version, ships.offer.skills)


@pytest.mark.parametrize("env", [{}, {"CLAUDE_CONFIG_DIR": "elsewhere"}])
def test_marketplaces_that_an_agent_added_are_found_where_it_keeps_them(
    shop: Shop, env: dict[str, str]
) -> None:
    env = {name: str(shop.base / value) for name, value in env.items()}
    top = shop.base / "elsewhere" if env else shop.home / ".claude"
    write(
        top / "plugins/marketplaces/shop",
        files_of("office", "pdf", at="o") | list_of({"name": "office", "source": "./o"}),
    )

    offers = ids(shop, **env)

    assert ["office@shop"] == offers


def test_a_copy_that_an_agent_made_of_a_listed_plugin_is_not_a_second_one(shop: Shop) -> None:
    plugins = shop.home / ".claude/plugins"
    write(
        plugins / "marketplaces/shop",
        list_of({"name": "office", "source": {"source": "github", "repo": "o/r"}}),
    )
    write(plugins / "cache/shop/office/1.0.0", files_of("office", "pdf"))
    write(plugins / "cache/gone/media/1.0.0", files_of("media", "mp3"))

    offers, faults = found(shop)

    assert [("media", ("mp3",)), ("office@shop", ("pdf",))] == [
        (one.plugin_id, one.skills) for one in offers
    ]
    assert [] == faults


def test_with_an_agent_only_its_own_folders_are_looked_at(shop: Shop) -> None:
    write(shop.home / ".claude/plugins/cache/shop/one/1.0.0", files_of("one", "a"))
    write(shop.home / ".codex/plugins/cache/shop/two/1.0.0", files_of("two", "b", where=CODEX))

    with shop.open() as m:
        seen = [
            [one.plugin_id for one in discover.discover_plugins(m.as_agent(name).context)[0]]
            for name in ("codex", "claude-code", "goose")
        ]

    assert [["two"], ["one"], []] == seen


# --- the configuration


def test_folders_of_the_configuration_are_read(shop: Shop) -> None:
    write(shop.shelf, files_of("b", "x", at="b") | files_of("a", "y", at="a", where=BARE))
    write(shop.home / "own", files_of("c", "z"))
    configure(shop, str(shop.shelf), "~/own")

    offers, faults = found(shop)

    assert [("a", "agent-plugins"), ("b", "claude"), ("c", "claude")] == [
        (one.plugin_id, one.format) for one in offers
    ]
    assert {"plugins.sources in the configuration"} == {one.told_by for one in offers}
    assert [] == faults


def test_a_repository_is_read_only_where_it_was_fetched_before(shop: Shop) -> None:
    repository = Repository(shop.base / "repository")
    repository.commit(files_of("office", "pdf"))
    configure(shop, repository.address)
    before = found(shop)
    with shop.open() as m, read_source.open_source(m.context, Request("git", repository.address)):
        pass
    repository.commit(files_of("media", "mp3"))

    offers, faults = found(shop)

    assert [] == before[0]
    assert [("not-fetched", True)] == [(fault.code, "sync" in fault.message) for fault in before[1]]
    assert [("office", ("pdf",), repository.address)] == [
        (one.plugin_id, one.skills, one.source.location) for one in offers
    ]
    assert [] == faults


def test_a_repository_is_read_without_its_lock(shop: Shop) -> None:
    repository = Repository(shop.base / "repository")
    repository.commit(files_of("office", "pdf"))
    configure(shop, repository.address)
    with shop.open() as m, read_source.open_source(m.context, Request("git", repository.address)):
        pass
    for lock in (shop.data / "cache/git").glob("*.lock"):
        lock.unlink()
        lock.mkdir()

    offers = ids(shop)

    assert ["office"] == offers


def test_a_damaged_copy_of_a_repository_is_a_fault(shop: Shop) -> None:
    repository = Repository(shop.base / "repository")
    repository.commit(files_of("office", "pdf"))
    configure(shop, repository.address)
    with shop.open() as m, read_source.open_source(m.context, Request("git", repository.address)):
        pass
    for pack in (shop.data / "cache/git").rglob("*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(b"PACK")

    offers, faults = found(shop)

    assert [] == offers
    assert 1 == len(faults)


def test_a_tap_may_be_a_marketplace_and_one_without_plugins_is_no_fault(shop: Shop) -> None:
    market = write(
        shop.shelf / "m",
        files_of("office", "pdf", at="o") | list_of({"name": "office", "source": "./o"}),
    )
    plain = write(shop.shelf / "plain", {"pdf/SKILL.md": document("pdf")})
    configure(shop, taps=(f"mine={market}", str(plain), "owner/never"))

    offers, faults = found(shop)

    assert [("office@shop", "supply.taps in the configuration")] == [
        (one.plugin_id, one.told_by) for one in offers
    ]
    assert [("https://github.com/owner/never", "not-fetched")] == [fault[:2] for fault in faults]


def test_a_source_of_the_configuration_without_a_plugin_is_a_fault_and_so_is_one_that_is_none(
    shop: Shop,
) -> None:
    configure(shop, str(shop.shelf), "./nowhere", "https://u:secret@h/x.git", "https://example.com")

    offers, faults = found(shop)

    assert [] == offers
    assert ["not-found", "usage", "credentials", "not-fetched"] == [fault.code for fault in faults]
    assert not any("secret" in fault.message for fault in faults)


def test_a_project_is_not_taken_for_a_repository_of_the_configuration(shop: Shop) -> None:
    write(shop.project / "owner/repo", files_of("impostor", "x"))
    configure(shop, "owner/repo")

    offers, faults = found(shop)

    assert [] == offers
    assert ["not-fetched"] == [fault.code for fault in faults]


# --- what is there twice, and what is broken


def test_of_two_places_with_one_id_the_first_counts_and_both_are_named(shop: Shop) -> None:
    write(shop.shelf / "mine", files_of("tool", "mine"))
    write(shop.shelf / "theirs", files_of("Tool", "theirs"))
    configure(shop, str(shop.shelf / "mine"), str(shop.shelf / "theirs"), str(shop.shelf / "mine"))

    offers, faults = found(shop)

    assert [("tool", ("mine",))] == [(one.plugin_id, one.skills) for one in offers]
    assert ["duplicate"] == [fault.code for fault in faults]
    assert all(str(shop.shelf / place) in faults[0].message for place in ("mine", "theirs"))


def test_a_project_never_stands_in_for_a_plugin_that_its_user_has_from_elsewhere(
    shop: Shop,
) -> None:
    markets(shop, "shop", renames={"documents": "office"})
    configure(shop, str(write(shop.shelf / "tool", files_of("tool", "lint"))))
    listed = list_of(
        {"name": "office", "source": "./o"},
        {"name": "evil", "source": "./o"},
        renames={"documents": "evil"},
    )
    write(shop.project, files_of("office", "evil", at="o") | files_of("tool", "evil") | listed)

    offers, faults = found(shop)
    with shop.open(shop.project) as m:
        meant = [
            discover.resolve_plugin(m.context, said).skills
            for said in ("office@shop", "documents@shop", "tool")
        ]

    assert {"office@shop": ("pdf",), "tool": ("lint",), "evil@shop": ("evil",)} == {
        one.plugin_id: one.skills for one in offers
    }
    assert [("pdf",), ("pdf",), ("lint",)] == meant
    assert ["duplicate", "duplicate"] == [fault.code for fault in faults]


@pytest.mark.parametrize("said", ["office", "documents"])
def test_a_plain_name_that_a_project_has_as_well_has_to_be_said_in_full(
    shop: Shop, said: str
) -> None:
    markets(shop, "shop", renames={"documents": "office"})
    write(shop.project, files_of(said, "evil"))

    with shop.open(shop.project) as m, pytest.raises(AmbiguousError) as caught:
        discover.resolve_plugin(m.context, said)

    assert {"office@shop", said} == {one["plugin_id"] for one in caught.value.details["candidates"]}  # type: ignore[attr-defined]


def test_broken_manifests_and_lists_are_faults_and_the_rest_goes_on(shop: Shop) -> None:
    write(shop.project, {LIST: "{"})
    write(shop.home / ".claude/plugins/cache/s/bad/1.0.0", {CLAUDE: "[]"})
    write(shop.home / ".claude/plugins/cache/s/good/1.0.0", files_of("good", "x"))

    offers, faults = found(shop)

    assert ["good"] == [one.plugin_id for one in offers]
    assert [
        (str(shop.home / ".claude/plugins/cache/s/bad/1.0.0" / CLAUDE), "malformed"),
        (str(shop.project / LIST), "malformed"),
    ] == [fault[:2] for fault in faults]


# --- what somebody means


def resolved(shop: Shop, said: str, **more: Any) -> PluginOffer:
    with shop.open() as m:
        return discover.resolve_plugin(m.context, said, **more)


def markets(shop: Shop, *names: str, **more: Any) -> None:
    for name in names:
        write(
            shop.home / ".claude/plugins/marketplaces" / name,
            files_of("office", "pdf", at="o")
            | list_of({"name": "office", "source": "./o"}, name=name, **more),
        )


@pytest.mark.parametrize("said", ["office@shop", "office", "Office", "documents@shop", "documents"])
def test_a_plugin_is_meant_by_its_id_its_plain_name_or_a_name_it_had(shop: Shop, said: str) -> None:
    markets(
        shop,
        "shop",
        renames={"papers": "office", "documents": "papers"}
        if said == "documents@shop"
        else {"documents": "office"},
    )

    offer = resolved(shop, said)

    assert "office@shop" == offer.plugin_id


@pytest.mark.parametrize("said", ["office", "documents"])
def test_a_plain_name_that_several_marketplaces_have_lists_them(shop: Shop, said: str) -> None:
    markets(shop, "one", "two", renames={"documents": "office"})

    with pytest.raises(AmbiguousError) as caught:
        resolved(shop, said)

    assert "choose" == caught.value.code
    assert ["office@one", "office@two"] == [
        one["plugin_id"]
        for one in caught.value.details["candidates"]  # type: ignore[attr-defined]
    ]


@pytest.mark.parametrize("said", ["nobody", "nobody@shop", "two words", "x" * 200])
def test_what_nobody_knows_is_an_unknown_plugin(shop: Shop, said: str) -> None:
    # BE-3
    with pytest.raises(NotFoundError) as caught:
        resolved(shop, said)

    assert caught.value.message.startswith(f"there is no plugin '{said[:70]}")


def test_a_path_and_a_repository_mean_the_one_plugin_there(shop: Shop) -> None:
    write(shop.project / "sub", files_of("tool", "x"))
    repository = Repository(shop.base / "repository")
    first = repository.commit(files_of("old-name", "x"))
    repository.commit(files_of("office", "pdf"))

    offers = [
        resolved(shop, "./sub"),
        resolved(shop, repository.address),
        resolved(shop, repository.address, ref=first),
    ]

    assert ["tool", "office", "old-name"] == [one.plugin_id for one in offers]
    assert [("folder", ""), ("git", ""), ("git", first)] == [
        (one.source.kind, one.source.ref) for one in offers
    ]


def test_of_several_plugins_in_a_source_one_is_named(shop: Shop) -> None:
    listed = list_of(
        {"name": "office", "source": "./a"},
        {"name": "media", "source": "./b"},
        renames={"film": "media"},
    )
    folder = write(
        shop.shelf / "m", files_of("office", "x", at="a") | files_of("media", "y", at="b") | listed
    )

    with pytest.raises(AmbiguousError) as several:
        resolved(shop, str(folder))
    offers = [
        resolved(shop, str(folder), name=name).plugin_id
        for name in ("office", "media@shop", "film")
    ]
    with pytest.raises(NotFoundError) as none:
        resolved(shop, str(folder), name="offce")

    assert ("choose", ["office@shop", "media@shop"]) == (
        several.value.code,
        [one["plugin_id"] for one in several.value.details["candidates"]],  # type: ignore[attr-defined]
    )
    assert ["office@shop", "media@shop", "media@shop"] == offers
    assert ("there is no plugin 'offce'", True) == (none.value.message, "office" in none.value.hint)


def test_a_source_without_a_plugin_is_an_unknown_plugin_and_the_hint_says_what_is_wrong(
    shop: Shop,
) -> None:
    # BE-3
    folder = write(shop.shelf / "p", {CLAUDE: "{", "skills/x/SKILL.md": document("x")})

    with pytest.raises(NotFoundError) as caught:
        resolved(shop, str(folder))

    assert caught.value.message.startswith("there is no plugin '/")
    assert "JSON" in caught.value.hint


def test_a_plugin_in_a_folder_has_no_refs(shop: Shop) -> None:
    markets(shop, "shop")

    with pytest.raises(UsageError) as caught:
        resolved(shop, "office@shop", ref="main")

    assert "no refs" in caught.value.message


def test_a_known_plugin_of_a_repository_is_looked_at_anew_at_another_ref(shop: Shop) -> None:
    repository = Repository(shop.base / "repository")
    first = repository.commit(files_of("office", "pdf", version="1"))
    repository.commit(files_of("office", "pdf", version="2"))
    configure(shop, repository.address)
    with shop.open() as m, read_source.open_source(m.context, Request("git", repository.address)):
        pass

    now, then = resolved(shop, "office"), resolved(shop, "office", ref=first)

    assert [("2", ""), ("1", first)] == [(one.version, one.source.ref) for one in (now, then)]
