"""Skills that need skills: what comes along, what is refused with it, and what the lock says of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from fakes.mcp_server import Answers, ToyServer
from fakes.repositories import Repository
from fakes.shop import DANGEROUS, FakeFetcher, Shop, document, write_skill, yes

from metier.errors import ConfigError, RefusedError
from metier.supply import fetch
from metier.supply.lock import read_lock
from metier.supply.model import SearchResult

if TYPE_CHECKING:
    from pathlib import Path

    from metier.supply.model import DependencyEdge, Outcome


def needs(*names: str) -> str:
    return f"depends-on: [{', '.join(names)}]\n"


def names(outcome: Outcome) -> tuple[list[str], list[str]]:
    return [one.name for one in outcome.installed], [one.name for one in outcome.refused]


def edges(outcome: Outcome) -> list[tuple[str, str, str]]:
    return [(one.by, one.name, one.state) for one in outcome.dependencies]


def test_what_a_skill_needs_comes_along_in_one_change_and_the_lock_says_for_whom(
    shop: Shop,
) -> None:
    shop.offer("a", fields=needs("b"))
    shop.offer("b", fields=needs("c", "a"))
    shop.offer("c")
    shop.offer("d")

    with shop.open() as m:
        outcome = m.add("../shelf", skills=["a"], consent=yes)

    assert (["a", "b", "c"], []) == names(outcome)
    assert [("a", "b", "found"), ("b", "c", "found"), ("b", "a", "cycle")] == edges(outcome)
    assert [(), ("a",), ("b",)] == [step.needed_by for step in outcome.plan.add]
    pins = shop.pins()
    assert {"a": None, "b": True, "c": True} == {
        name: pin.get("dependency") for name, pin in pins.items()
    }
    assert {"a": ["b"], "b": ["a", "c"], "c": None} == {
        name: pin.get("requires") for name, pin in pins.items()
    }
    assert shop.lock.read_text().startswith('{\n  "version": 2,')


def test_a_lock_without_needs_is_one_that_an_earlier_metier_reads(shop: Shop) -> None:
    shop.offer("a")

    with shop.open() as m:
        m.add("../shelf/a", consent=yes)

    assert shop.lock.read_text().startswith('{\n  "version": 1,')


def test_without_dependencies_they_are_left_out_and_that_is_said(shop: Shop) -> None:
    shop.offer("a", fields=needs("b@^1"))
    shop.offer("b")

    with shop.open() as m:
        outcome = m.add("../shelf", skills=["a"], no_deps=True, consent=yes)
        again = m.add("../shelf", skills=["a"], consent=yes)

    assert (["a"], []) == names(outcome)
    assert ("left out, because of --no-deps: b",) == outcome.notes
    assert (["b"], []) == names(again)


def test_a_refused_skill_refuses_who_needs_it_and_nothing_else(shop: Shop) -> None:
    shop.offer("top", fields=needs("mid"))
    shop.offer("mid", fields=needs("bad", "only-for-mid"))
    shop.offer("bad", DANGEROUS)
    shop.offer("only-for-mid")
    shop.offer("other")
    before = shop.seen()

    with shop.open() as m:
        refused = m.add("../shelf", skills=["top"], force=True, consent=yes)
        after = shop.seen()
        both = m.add("../shelf", skills=["top", "other"], consent=yes)
        alone = m.add("../shelf", skills=["top"], no_deps=True, consent=yes)

    assert ([], ["bad", "mid", "top"]) == (names(refused)[0], sorted(names(refused)[1]))
    assert before == after
    reasons = {one.name: one.reasons for one in refused.refused}
    assert "needs 'bad', which is refused" in reasons["mid"][0]
    assert "needs 'mid', which is refused" in reasons["top"][0]
    assert "--no-deps" in reasons["top"][1]
    assert ["other"] == names(both)[0]
    assert () == refused.notes
    assert (["top"], []) == names(alone)


def test_a_danger_that_was_accepted_is_not_accepted_for_what_comes_along(shop: Shop) -> None:
    shop.offer("top", fields=needs("bad"))
    shop.offer("bad", DANGEROUS)

    with shop.open() as m:
        outcome = m.add(
            "../shelf", skills=["top"], accept_dangerous=True, reason="known", consent=yes
        )

    assert ([], ["bad", "top"]) == (names(outcome)[0], sorted(names(outcome)[1]))


def test_what_is_missing_is_said_and_keeps_nothing_out(shop: Shop) -> None:
    shop.offer("a", fields=needs("nowhere"))

    with shop.open() as m:
        outcome = m.add("../shelf/a", consent=yes)

    assert (["a"], []) == names(outcome)
    assert [("a", "nowhere", "missing")] == edges(outcome)
    assert "'a' needs 'nowhere', which was not found" in outcome.notes[0]


def test_a_name_that_only_looks_like_another_is_told_and_brings_nothing(shop: Shop) -> None:
    shop.offer("a", fields='depends-on: ["рdf", "ｐｄｆ"]\n')  # noqa: RUF001 - not these letters
    shop.offer("pdf")

    with shop.open() as m:
        outcome = m.add("../shelf", skills=["a"], consent=yes)

    assert (["a"], []) == names(outcome)
    told = r"'a': 'depends-on': '\u0440df' is no name of a skill (SK062, and 1 more)"
    assert (told,) == outcome.notes


def test_what_is_installed_is_not_fetched_again_and_asking_for_it_makes_it_one_s_own(
    shop: Shop,
) -> None:
    shop.offer("a", fields=needs("b"))
    shop.offer("b")

    with shop.open() as m:
        m.add("../shelf", skills=["a"], consent=yes)
        marked = shop.pins()["b"].get("dependency")
        m.add("../shelf", skills=["b"], consent=yes)
        again = m.add("../shelf", skills=["a"], consent=yes)

    assert (True, None) == (marked, shop.pins()["b"].get("dependency"))
    assert [("a", "b", "installed")] == edges(again)
    assert ([], []) == names(again)


@pytest.mark.parametrize(
    ("written", "state", "why"),
    [
        ("b@^2", "conflict", "'a' needs ^1 and 'd' ^2"),
        ("B", "twin", "some systems take the two names for one"),
        ("b@^1.2", "found", ""),
    ],
)
def test_needs_that_cannot_be_met_at_once_are_conflicts(
    written: str, state: str, why: str, shop: Shop
) -> None:
    shop.offer("a", fields=needs("b@^1", "d"))
    shop.offer("b", fields='version: "1.4.0"\n')
    shop.offer("d", fields=needs(written))

    with shop.open() as m:
        outcome = m.add("../shelf", skills=["a"], consent=yes)

    found: DependencyEdge = next(one for one in outcome.dependencies if one.by == "d")
    assert (state, True) == (found.state, why in found.reason)
    assert (["a", "b", "d"] if state == "found" else []) == sorted(names(outcome)[0])


def test_a_version_is_found_by_the_tags_of_a_repository(shop: Shop, tmp_path: Path) -> None:
    made = Repository(tmp_path / "made")
    for version in ("1.0.0", "1.5.0", "2.0.0"):
        made.commit(
            {
                "a/SKILL.md": document("a", fields=needs("b@^1", "c")),
                "b/SKILL.md": document("b", f"Version {version}.\n"),
                "c/SKILL.md": document("c", fields=needs("b@>=1.2")),
            }
        )
        made.git("tag", f"v{version}")

    with shop.open() as m:
        outcome = m.add(f"git+{made.address}", skills=["a"], consent=yes)
        none = m.add(f"git+{made.address}", skills=["c"], dry_run=True)

    assert ["a", "b", "c"] == sorted(names(outcome)[0])
    assert ("v1.5.0", None) == (shop.pins()["b"]["ref"], shop.pins()["a"].get("ref"))
    assert "Version 1.5.0." in shop.working("b", "SKILL.md").read_text()
    assert not none.refused


@pytest.mark.loopback
def test_what_a_server_s_skill_needs_is_looked_for_on_that_server(shop: Shop) -> None:
    skills = {
        name: {"SKILL.md": document(name, fields=needs(*needed) if needed else "").encode()}
        for name, needed in {"a": ("b", "c"), "b": ("c",), "c": (), "liar": ()}.items()
    }
    with ToyServer(Answers(skills)) as toy:
        shop.configure(f'[supply]\nprivate_hosts = ["{toy.place}"]\n')
        listed = toy.answers.entry("liar")
        toy.answers.said["skills/list"] = {"skills": [*map(toy.answers.entry, "abc"), listed]}
        skills["liar"]["SKILL.md"] = b"Other bytes.\n"
        with shop.open() as m:
            outcome = m.add(f"mcp+{toy.url}", skills=["a"], consent=yes)

    assert ["a", "b", "c"] == names(outcome)[0]
    assert [("a", "b", "found"), ("a", "c", "found"), ("b", "c", "found")] == edges(outcome)
    assert 2 == toy.answers.asked.count("skills/list")


def test_another_source_is_asked_once_and_only_on_a_host_that_was_named(shop: Shop) -> None:
    files: dict[str, str | None] = {
        "skills/a/SKILL.md": document(
            "a", fields=needs("other/repo/skills/b", '"https://evil.example/x.git"', "c")
        ),
        "skills/b/SKILL.md": document("b", fields=needs("c")),
        "skills/c/SKILL.md": document("c"),
    }
    fetcher = FakeFetcher(files)

    with shop.open() as m:
        m.context.fetchers = {"git": fetcher}
        outcome = m.add("owner/repo", skills=["a"], consent=yes)

    assert ["a", "b", "c"] == sorted(names(outcome)[0])
    assert ["https://github.com/owner/repo", "https://github.com/other/repo"] == [
        one.location for one in fetcher.asked
    ]
    assert [
        "which you have not named yet" in one.reason
        for one in outcome.dependencies
        if one.name == "x"
    ] == [True]
    assert "https://github.com/other/repo" == shop.pins()["b"]["source"]


def test_fifty_needs_open_their_source_once(shop: Shop) -> None:
    many = [f"s{number}" for number in range(50)]
    files: dict[str, str | None] = {f"{name}/SKILL.md": document(name) for name in many}
    fetcher = FakeFetcher({**files, "a/SKILL.md": document("a", fields=needs(*many))})

    with shop.open() as m:
        m.context.fetchers = {"git": fetcher}
        outcome = m.add("owner/repo", skills=["a"], consent=yes)

    assert (51, 1) == (len(outcome.installed), len(fetcher.asked))


def test_a_bomb_is_refused_quickly_and_leaves_nothing(shop: Shop) -> None:
    shop.offer("a", fields=needs(*(f"n{number}" for number in range(10_000))))
    for number in range(60):
        shop.offer(f"deep{number}", fields=needs(f"deep{number + 1}"))
    before = shop.seen()

    with shop.open() as m:
        for name in ("a", "deep0"):
            with pytest.raises(RefusedError) as caught:
                m.add("../shelf", skills=[name], consent=yes)
            assert "dependency-limit" == caught.value.code

    assert before == shop.seen()


def test_paths_stay_inside_the_source(shop: Shop) -> None:
    shop.offer("a", at="one/a", fields=needs('"../b"', '"../../../../project"', '"file:///etc"'))
    shop.offer("b", at="one/b")
    shop.offer("b", at="two/b", body="Another.\n")

    with shop.open() as m:
        outcome = m.add("../shelf", skills=["a"], consent=yes)

    assert ["a", "b"] == sorted(names(outcome)[0])
    assert "one/b" == shop.pins()["b"]["path"]
    assert ("a", "project", "missing") in edges(outcome)


def test_a_pool_opens_a_source_once(shop: Shop) -> None:
    shop.offer("a")

    with shop.open() as m, fetch.SourcePool(m.context) as pool:
        request = fetch.request_for(m.context, "../shelf")
        assert pool.open(request) is pool.open(request._replace(said="otherwise"))
        assert 1 == pool.opened


# --- keeping them current, and taking them out again


def test_an_update_brings_along_what_a_newer_version_needs(shop: Shop) -> None:
    shop.offer("a")
    shop.offer("b", fields=needs("c"))
    shop.offer("c")
    shop.offer("d")
    with shop.open() as m:
        m.add("../shelf", skills=["a", "d"], consent=yes)
        shop.offer("a", fields=needs("b"))
        looked = m.update(check=True)
        before = shop.lock.read_bytes()
        outcome = m.update(consent=yes)
        done = m.update(consent=yes)

    assert (["b", "c"], ["a"]) == (
        [one.name for one in looked.plan.add],
        [one.name for one in looked.plan.update],
    )
    assert before != shop.lock.read_bytes()
    assert ["a", "b", "c"] == sorted(one.name for one in outcome.installed)
    assert ((), (), ()) == (done.installed, done.held, done.plan.add)
    pins = shop.pins()
    assert (["b"], True, True) == (
        pins["a"]["requires"],
        pins["b"]["dependency"],
        pins["c"]["dependency"],
    )


def test_an_update_that_needs_what_is_refused_waits(shop: Shop) -> None:
    shop.offer("a")
    with shop.open() as m:
        m.add("../shelf", skills=["a"], consent=yes)
        shop.offer("a", fields=needs("bad"))
        shop.offer("bad", DANGEROUS)
        outcome = m.update(consent=yes)

    assert ((), ["a"], ["bad"]) == (
        outcome.installed,
        [one.name for one in outcome.held],
        [one.name for one in outcome.refused],
    )
    assert "needs 'bad', which is refused" in outcome.held[0].reasons[-1]
    assert not shop.working("bad").exists()


def test_what_another_skill_needs_stays_unless_it_is_forced_or_goes_too(shop: Shop) -> None:
    shop.offer("a", fields=needs("b"))
    shop.offer("b", fields=needs("c"))
    shop.offer("c", fields=needs("b"))
    shop.offer("own", fields=needs("c"))
    with shop.open() as m:
        m.add("../shelf", skills=["a", "own"], consent=yes)

        refused = m.remove("b", consent=yes)
        dry = m.remove("a", orphans=True, dry_run=True)
        both = m.remove(["a", "own"], orphans=True, dry_run=True)
        plain = m.remove("own", consent=yes)
        gone = m.remove("a", orphans=True, consent=yes)

    assert "a, c need it; --force" in refused.refused[0].reasons[0]
    assert ["a"] == [one.name for one in dry.plan.remove]
    assert ["a", "own", "b", "c"] == [one.name for one in both.plan.remove]
    assert ((), ["own"]) == (plain.refused, [one.name for one in plain.plan.remove])
    assert ["a", "b", "c"] == [one.name for one in gone.plan.remove]
    assert {} == shop.pins()


def test_what_nobody_needs_any_more_is_named_and_force_removes_what_is_needed(shop: Shop) -> None:
    shop.offer("a", fields=needs("b"))
    shop.offer("b")
    with shop.open() as m:
        m.add("../shelf", skills=["a"], consent=yes)
        told = m.remove("a", dry_run=True)
        forced = m.remove("b", force=True, consent=yes)

    assert told.notes == ("no longer needed: b; --orphans removes what only these skills needed",)
    assert ["b"] == [one.name for one in forced.plan.remove]
    assert {"a"} == set(shop.pins())


def test_what_stays_keeps_what_it_needs(shop: Shop) -> None:
    shop.offer("a", fields=needs("b"))
    shop.offer("b", fields=needs("c"))
    shop.offer("c")
    shop.offer("d", fields=needs("e"))
    shop.offer("e")
    with shop.open() as m:
        m.add("../shelf", skills=["a", "d"], consent=yes)
        document = shop.working("a", "SKILL.md")
        document.write_text(document.read_text() + "edited\n")
        outcome = m.remove(["a", "d"], orphans=True, consent=yes)
        two = m.remove(["a", "b"], dry_run=True)

    assert ["d", "e"] == [one.name for one in outcome.plan.remove]
    assert ["a", "b", "c"] == [one.name for one in outcome.refused]
    assert "b needs it; --force" in outcome.refused[2].reasons[0]
    assert {"a", "b", "c"} == set(shop.pins())
    assert ((), ["a", "b"]) == (two.plan.remove, [one.name for one in two.refused])


# --- looking at them


def test_a_tree_shows_what_is_needed_by_whom_and_how_to_get_what_is_missing(shop: Shop) -> None:
    shop.offer("a", fields=needs("b@^2", "c", "o/r/skills/gone") + "related_skills: [pal]\n")
    shop.offer("b", fields='version: "1.4.0"\n')
    shop.offer("c", fields=needs("a", "b", "nowhere"))
    with shop.open() as m:
        m.add("../shelf", all=True, no_deps=True, consent=yes)
        tree, below, trees = m.tree("a"), m.tree("b"), m.trees()
        ready = m.prepare("a")

    assert [("b", "conflict"), ("c", "installed"), ("gone", "missing")] == [
        (one.name, one.state) for one in tree.requires
    ]
    assert [("a", "cycle"), ("b", "installed"), ("nowhere", "missing")] == [
        (one.name, one.state) for one in tree.requires[1].requires
    ]
    assert (("c",), ("pal",), ("a", "c")) == (tree.required_by, tree.related, below.required_by)
    assert "metier add o/r/skills/gone" == tree.requires[2].command
    assert "metier search nowhere" == tree.requires[1].requires[2].command
    assert ["metier add o/r/skills/gone"] == ready.commands
    assert ["a"] == [one.name for one in trees]


def test_an_update_that_nobody_sees_brings_no_other_skill(shop: Shop) -> None:
    shop.offer("a")
    shop.offer("b")
    with shop.open() as m:
        m.add("../shelf", skills=["a"], consent=yes)
        shop.offer("a", fields=needs("b"))
        outcome = m.update()

    assert ((), ["a"]) == (outcome.installed, [one.name for one in outcome.held])
    assert not shop.working("b").exists()


@pytest.mark.parametrize("asked", [False, True])
def test_a_yes_in_advance_is_none_to_another_skill_wherever_it_is_named(
    shop: Shop, *, asked: bool
) -> None:
    shop.configure("[supply]\nfast_forward = true\n")
    shop.offer("a")
    shop.offer("b")
    shown: list[Outcome] = []

    def no(outcome: Outcome) -> bool:
        shown.append(outcome)
        return False

    with shop.open() as m:
        m.add("../shelf", skills=["a"], consent=yes)
        shop.offer("a", files={"apm.yml": "dependencies: {apm: [b]}\n"})
        outcome = m.update(consent=no if asked else None)

    assert () == outcome.installed
    assert asked == bool(shown)
    assert asked or ["a"] == [one.name for one in outcome.held]
    assert not shop.working("b").exists()


@pytest.mark.parametrize(
    ("version", "field", "value"),
    [
        (1, "requires", ["b"]),
        (1, "dependency", True),
        (2, "requires", ["c", "b"]),
        (2, "requires", ["b", "b"]),
        (2, "requires", [""]),
        (2, "requires", ["b\n"]),
        (2, "requires", [1]),
        (2, "requires", {"b": 1}),
        (2, "requires", [f"n{number:05}" for number in range(1_001)]),
        (2, "dependency", "yes"),
        (2, "others", []),
    ],
)
def test_a_lock_that_says_it_wrongly_is_refused(
    version: int, field: str, value: object, shop: Shop
) -> None:
    shop.offer("a")
    with shop.open() as m:
        m.add("../shelf/a", consent=yes)
    found = json.loads(shop.lock.read_bytes())
    found["version"] = version
    good = json.dumps(found).encode()
    found["skills"][0][field] = value

    with pytest.raises(ConfigError) as caught:
        read_lock(json.dumps(found).encode())

    assert "lock" == caught.value.code
    assert ["a"] == [pin.name for pin in read_lock(good).pins]


def test_no_skill_has_a_command_started(shop: Shop) -> None:
    started: list[str] = []

    def may_start(command: str) -> bool:
        started.append(command)
        return True

    for place in ("mcp+stdio:python3 ./serve.py", "mcp+stdio:/usr/bin/serve"):
        fields = f"depends-on:\n  - {{name: x, source: '{place}'}}\n"
        shop.offer("a", fields=fields)

        with shop.open() as m:
            m.context.may_start = may_start
            outcome = m.add("../shelf", skills=["a"], dry_run=True)

        assert ["missing"] == [one.state for one in outcome.dependencies]
        assert "is a command" in outcome.dependencies[0].reason
    assert [] == started


def test_a_skill_of_another_name_is_not_the_one_that_is_needed(shop: Shop) -> None:
    shop.offer("a", fields=needs("../odd", "c"))
    shop.offer("b", at="odd")
    shop.offer("c")

    with shop.open() as m:
        outcome = m.add("../shelf", skills=["a"], consent=yes)

    assert ["a", "c"] == names(outcome)[0]
    assert [("a", "odd", "missing"), ("a", "c", "found")] == edges(outcome)
    assert "is called 'b'" in outcome.dependencies[0].reason
    assert not any("already current" in note for note in outcome.notes)


def test_what_is_needed_is_looked_for_in_taps_and_not_in_registries(
    shop: Shop, tmp_path: Path
) -> None:
    class Registry:
        source = "clawhub:https://hub.example"

        def search(self, words: str, limit: int) -> list[SearchResult]:
            found = [SearchResult(words, "Anybody's.", str(tmp_path / "foreign"), "community")]
            return found[:limit]

    write_skill(tmp_path / "foreign/b", "b")
    write_skill(tmp_path / "foreign/c", "c")
    write_skill(tmp_path / "tapped/c", "c", fields="license: MIT\n")
    shop.configure(f'[supply]\ntaps = ["{tmp_path / "tapped"}"]\n')
    shop.offer("a", fields=needs("b", "c"))

    with shop.open() as m:
        m.context.seekers = (Registry(),)
        outcome = m.add("../shelf", skills=["a"], consent=yes)

    assert [("a", "b", "missing"), ("a", "c", "found")] == edges(outcome)
    assert "license: MIT" in shop.working("c", "SKILL.md").read_text()


def test_a_skill_of_your_own_that_has_the_name_of_a_needed_one_is_shown(shop: Shop) -> None:
    own = write_skill(shop.home / ".agents/skills/b", "b")
    shop.offer("a", fields=needs("b"))
    shop.offer("b", "Something else. Do it with care.\n")

    with shop.open() as m:
        outcome = m.add("../shelf", skills=["a"], dry_run=True)

    told = {step.name: "; ".join(step.reasons) for step in outcome.plan.add}
    assert f"you already have another one, in {own}" in told["b"]
    assert "another one" not in told["a"]


def test_what_comes_along_is_not_written_down_as_forced(shop: Shop) -> None:
    shop.offer("a", fields=needs("b"))
    shop.offer("b")

    with shop.open() as m:
        m.add("../shelf", skills=["a"], force=True, consent=yes)
        found = {
            one["name"]: one["details"].get("forced")
            for one in m.audit_tail(100)
            if one["event"] == "install"
        }

    assert (True, False) == (found["a"], bool(found["b"]))
