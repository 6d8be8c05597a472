"""An organisation's policy: read whole or not at all, and never softened by a user or a project."""

from __future__ import annotations

import tomllib
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from metier.errors import ConfigError
from metier.model import Digest, Verdict
from metier.settings.merge import ConfigSource
from metier.trust.decide import decide
from metier.trust.model import LEVELS, Approval, Provenance
from metier.trust.organisation import PolicyInForce, cap_all, cap_trust, read_policy
from metier.trust.policy import ACTIONS, PHASES, PRESETS, VERDICTS, TrustPolicy, read_trust

if TYPE_CHECKING:
    from metier.settings.merge import ConfigLayer
    from metier.trust.organisation import OrganisationPolicy

DIGEST = Digest("sha256:1")


def policy_of(text: str) -> OrganisationPolicy:
    text = f"version = 1\n{text}"
    return read_policy(ConfigSource("organisation", "/p.toml", text, tomllib.loads(text)))


def trust_of(*layers: tuple[ConfigLayer, str]) -> TrustPolicy:
    policy = TrustPolicy()
    for layer, text in layers:
        values = tomllib.loads(text)["trust"] if text else {}
        policy = read_trust(values, ConfigSource(layer, f"/{layer}.toml", text, values), policy)
    return policy


WORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "policy": ("preset", tuple(PRESETS)[::-1]),
    "local_default": ("local_default", LEVELS[2:]),
    "hash_mismatch_level": ("hash_mismatch_level", LEVELS[4:]),
    "edits": ("edits", ("allow", "ask")),
}


@pytest.mark.parametrize("key", WORDS)
def test_a_word_is_never_softer_than_the_policy_s_whatever_others_say(key: str) -> None:
    field, words = WORDS[key]
    for most, user, project in product(words, repeat=3):
        given = trust_of(
            ("user", f"[trust]\n{key} = '{user}'"), ("project", f"[trust]\n{key} = '{project}'")
        )
        capped = cap_trust(given, policy_of(f"[trust]\n{key} = '{most}'"))

        assert words.index(getattr(capped, field)) >= words.index(most)
        assert words.index(getattr(capped, field)) >= words.index(getattr(given, field))
        flag = ConfigSource("session", "--flag", "", {})
        softened = read_trust({key: words[0]}, flag, capped)  # as `scan --policy` would
        assert words.index(getattr(softened, field)) >= words.index(most)


@pytest.mark.parametrize("action", ACTIONS)
def test_no_cell_of_the_table_is_softer_than_the_policy_s(action: str) -> None:
    rule = f"[[trust.rules]]\nlevel = 'community'\nverdict = 'safe'\nphase = 'run'\naction = '{action}'\n"
    for user, project in product(ACTIONS, repeat=2):
        given = trust_of(
            ("user", rule.replace(f"'{action}'", f"'{user}'")),
            ("project", rule.replace(f"'{action}'", f"'{project}'")),
        )
        capped = cap_trust(given, policy_of(rule))

        for level, phase, verdict in product(LEVELS, PHASES, VERDICTS):
            before = given.table.action(level, verdict, phase)
            after = capped.table.action(level, verdict, phase)
            assert ACTIONS.index(after) >= ACTIONS.index(before)
        found = capped.table.action("community", "safe", "run")
        assert ACTIONS.index(found) >= ACTIONS.index(action)


def test_only_sources_that_the_policy_lists_can_be_trusted() -> None:
    capped = cap_trust(
        TrustPolicy(), policy_of("[trust]\ntrusted_sources = ['openai/skills', 'a/b']")
    )

    assert ("openai/skills",) == capped.trusted_sources  # it limits, and adds nothing
    assert ("openai/skills", "a/b") == capped.bounds.trusted_sources


def test_rules_of_user_and_project_stand_beside_the_policy_s() -> None:
    given = trust_of(
        ("user", "[trust]\nallow_sources = ['a/*', 'b/*']"),
        ("project", "[trust]\nallow_sources = ['**']\ndeny_sources = ['a/c']"),
    )
    capped = cap_all(given, PolicyInForce((policy_of("[sources]\nallow = ['a/*']"),)))

    def state(source: str) -> str:
        return str(decided(capped, Provenance(source=f"https://github.com/{source}")).state)

    assert ["visible", "blocked", "blocked", "blocked"] == [
        state(one) for one in ("a/b", "b/b", "a/c", "c/c")
    ]


def decided(policy: TrustPolicy, provenance: Provenance, **more: Any) -> Any:
    verdict = Verdict(DIGEST, "", more.pop("verdict", "safe"), 0, ())
    approval = Approval(
        name="pdf",
        digest=DIGEST,
        state="approved",
        at="2026-01-01",
        level="trusted",
        accept_dangerous=True,
    )
    return decide(verdict, provenance, policy, [approval], "2026-02-01", name="pdf", digest=DIGEST)


def test_no_approval_answers_what_a_policy_forbids() -> None:
    anywhere = Provenance(source="https://github.com/a/b")
    rule = "[[trust.rules]]\nlevel = 'trusted'\nverdict = 'safe'\nphase = 'run'\naction = 'block'\n"
    cases = {
        "[sources]\nallow = []": ("block", "block", "block"),
        "[sources]\nsigned = ['**']": ("block", "block", "block"),
        f"[publishers]\n'a/*' = ['ed25519:{'0' * 32}']": ("block", "block", "block"),
        rule: ("allow", "allow", "block"),
        rule.replace("trusted", "community"): ("allow", "allow", "block"),
        "[sources]\nallow = ['a/*']": ("allow", "allow", "allow"),
    }
    for text, expected in cases.items():
        found = decided(cap_trust(TrustPolicy(), policy_of(text)), anywhere)
        assert expected == (found.install, found.load, found.run), text
        assert ("block" in expected) == any(why.startswith("policy: ") for why in found.reasons)
    firm = cap_trust(TrustPolicy(), policy_of(rule.replace("trusted", "community")))
    assert "block" == decided(firm, anywhere._replace(own="place")).run  # which anybody can say
    assert "allow" == decided(firm, Provenance(own="place")).run
    never = cap_trust(TrustPolicy(), policy_of("[trust]\naccept_dangerous = false"))
    assert "block" == decided(never, anywhere, verdict="dangerous").load
    assert "warn" == decided(TrustPolicy(), anywhere, verdict="dangerous").load


def test_where_nobody_may_accept_danger_only_the_organisation_s_waivers_count() -> None:
    waiver = "[[trust.waivers]]\nrule = '{0}'\nreason = 'x'\nexpires = '2030-01-01'\n"
    said = "[trust]\nbaseline = '/{0}.json'\n" + waiver
    policy = trust_of(("organisation", said.format("SC1")), ("user", said.format("SC2")))
    never = cap_trust(policy, policy_of("[trust]\naccept_dangerous = false"))
    other = cap_trust(policy, policy_of("[trust]\npolicy = 'strict'"))

    assert (["SC1"], "/SC1.json") == ([one.rule for one in never.waivers], never.baseline)
    assert (["SC1", "SC2"], "/SC2.json") == ([one.rule for one in other.waivers], other.baseline)


def test_under_damage_everything_is_blocked_and_says_why() -> None:
    damaged = cap_all(
        TrustPolicy(), PolicyInForce(damage="policy: /p.toml can't be used: it is missing")
    )
    found = decided(damaged, Provenance(source="metier:shipped"))

    assert ("blocked", "block", "block", "block") == (
        found.state,
        found.install,
        found.load,
        found.run,
    )
    assert "policy: /p.toml can't be used: it is missing" == found.reasons[0]


@pytest.mark.parametrize(
    "text",
    [
        "version = 2",
        "version = true",
        "name = 'no version'",
        "version = 1\nzzz = 1",
        "version = 1\n[sources]\nzzz = []",
        "version = 1\n[sources]\nallow = 'all'",
        "version = 1\n[sources]\nallow = ['../x']",
        "version = 1\n[sources]\nallow = ['']",
        "version = 1\nsources = 1",
        "version = 1\n[publishers]\n'a/*' = 'key'",
        "version = 1\n[publishers]\n'a/*' = ['key']",
        "version = 1\n[trust]\npolicy = 'lax'",
        "version = 1\n[trust]\nwaivers = []",
        "version = 1\n[trust]\ntrusted_sources = ['x']",
        "version = 1\n[trust]\naccept_dangerous = 0",
        "version = 1\n[[trust.rules]]\nlevel = 'community'",
        "version = 1\n[skills]\nmandatory = 'x'",
        "version = 1\n[run]\nnetwork = 'all'",
    ],
)
def test_what_a_policy_may_not_say_is_an_error_and_not_left_out(text: str) -> None:
    with pytest.raises(ConfigError):
        read_policy(ConfigSource("organisation", "/p.toml", text, tomllib.loads(text)))


def test_every_entry_has_its_own_line() -> None:
    found = policy_of(
        "# allow = ['a']\n[skills]\nmandatory = [\n 'x',\n 'y']\n[sources]\n"
        "deny = ['q']\nallow = [\n  'a/b',\n  'c/d',\n]\n"
        "[publishers]\n'a/b' = []\n[trust]\npolicy = 'strict'\n"
    )

    assert found.sources.allow is not None
    assert ["/p.toml:10", "/p.toml:11"] == [one.place for one in found.sources.allow]
    assert ("/p.toml:9", "/p.toml:8") == (found.sources.allow_place, found.sources.deny[0].place)
    assert ["/p.toml:5", "/p.toml:6"] == [one.place for one in found.mandatory]
    assert "/p.toml:14" == found.sources.publishers[0].place
    assert "/p.toml:16" == next(one.place for one in found.lines if "policy" in one.text)
