"""The `[trust]` table of a configuration file."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from metier.errors import ConfigError
from metier.settings.merge import ConfigLayer, ConfigSource
from metier.trust.model import TRUSTED_SOURCES
from metier.trust.policy import TrustPolicy, read_trust
from metier.trust.waivers import Waiver


def read(text: str, layer: ConfigLayer = "user", policy: TrustPolicy | None = None) -> TrustPolicy:
    values = tomllib.loads(text)
    return read_trust(values["trust"], ConfigSource(layer, f"/{layer}.toml", text, values), policy)


WAIVER = 'fingerprint = "f1"\nreason = "our own test data"\nexpires = 2026-12-31\n'


def test_every_setting_of_a_user_is_read() -> None:
    policy = read(
        '[trust]\nlocal_default = "trusted"\nhash_mismatch_level = "community"\ntrusted_sources = ["me/skills"]\npolicy = "permissive"\n'
        'baseline = "/home/me/baseline.json"\n[[trust.rules]]\nlevel = "community"\nverdict = "safe"\nphase = "run"\naction = "allow"\n'
        f'[[trust.waivers]]\n{WAIVER}name = "pdf"\npath = "a.sh"\nby = "kim"\n'
    )

    assert ("trusted", "community", ("me/skills",), "permissive") == policy[1:5]
    assert "/home/me/baseline.json" == policy.baseline
    assert "allow" == policy.action("community", "safe", "run")
    assert (
        Waiver("our own test data", "2026-12-31", "f1", "", "pdf", "a.sh", "kim", "/user.toml"),
    ) == policy.waivers
    assert () == policy.problems
    assert hash(policy)


def test_without_a_table_the_defaults_hold() -> None:
    assert TrustPolicy() == read("[trust]\n")
    assert ("community", "quarantined", TRUSTED_SOURCES, "balanced") == TrustPolicy()[
        1:5
    ]  # MT-12, ZE-24


WRONG = [
    ("[trust]\nlocal_defualt = 'x'\n", "unknown key 'trust.local_defualt' at /user.toml:2", "did you mean 'trust.local_default'?"),
    ("[trust]\nzzzzzzzz = 1\n", "unknown key 'trust.zzzzzzzz' at /user.toml:2", "see all settings: metier config list --all"),
    ("[trust]\nlocal_default = 'builtin'\n", "'local_default' at /user.toml:2 must be one of trusted, verified, community, quarantined, blocked", ""),
    ("[trust]\nlocal_default = 3\n", "'local_default' at /user.toml:2 must be one of", ""),
    ("[trust]\n\nhash_mismatch_level = 'trusted'\n", "'hash_mismatch_level' at /user.toml:3 must be one of community, quarantined, blocked", ""),
    ("[trust]\nedits = 'never'\n", "'edits' at /user.toml:2 must be one of allow, ask", ""),
    ("[trust]\npolicy = 'lax'\n", "'policy' at /user.toml:2 must be one of strict, balanced, permissive", ""),
    ("[trust]\ntrusted_sources = 'me/skills'\n", "'trusted_sources' at /user.toml:2 must be a list of repositories", ""),
    ("[trust]\ntrusted_sources = [1]\n", "'trusted_sources' at /user.toml:2 must be a list of repositories", ""),
    ("[trust]\ntrusted_sources = ['me']\n", "'trusted_sources' at /user.toml:2 must name whole repositories, such as 'owner/skills', not 'me'", ""),
    ("[trust]\ntrusted_sources = ['a/b', '']\n", "'trusted_sources' at /user.toml:2 must name whole repositories", ""),
    ("[trust]\nbaseline = 3\n", "'baseline' at /user.toml:2 must be a text", ""),
    ("[trust]\nrules = 3\n", "'rules' at /user.toml:2 must be a list of tables: [[trust.rules]]", ""),
    ("[trust]\nrules = [3]\n", "'rules' at /user.toml:2 must be a list of tables: [[trust.rules]]", ""),
    ("[[trust.rules]]\nlevels = 'x'\n", "unknown key 'trust.rules.levels' at /user.toml:2", "did you mean 'trust.rules.level'?"),
    ("[[trust.rules]]\nlevel = 'x'\n", "'level' at /user.toml:2 must be one of builtin", ""),
    ("[[trust.rules]]\nlevel = 'trusted'\nverdict = 'safe'\nphase = 'run'\naction = 'deny'\n", "'action' at /user.toml:5 must be one of allow, warn, ask, block", ""),
    ("[[trust.rules]]\nlevel = 'trusted'\nverdict = 'safe'\naction = 'ask'\n", "'phase' at /user.toml must be one of install, load, run", ""),
    ("[trust]\nwaivers = {}\n", "'waivers' at /user.toml:2 must be a list of tables: [[trust.waivers]]", ""),
    ("[[trust.waivers]]\nexpiry = 1\n", "unknown key 'trust.waivers.expiry' at /user.toml:2", "did you mean 'trust.waivers.expires'?"),
    ("[[trust.waivers]]\nreason = 1\n", "'reason' at /user.toml:2 must be a text", ""),
    ("[[trust.waivers]]\nreason = 'r'\nexpires = 2026-01-01\n", "'waivers' at /user.toml:1 must give exactly one of fingerprint and rule", ""),
    (f"[[trust.waivers]]\nrule = 'SC101'\n{WAIVER}", "'waivers' at /user.toml:1 must give exactly one of fingerprint and rule", ""),
    ("[[trust.waivers]]\nrule = 'SC101'\nreason = 'r'\nexpires = 'soon'\n", "'expires' at /user.toml:4 must be a date: YYYY-MM-DD", ""),
    ("[[trust.waivers]]\nrule = 'SC101'\nreason = 'r'\nexpires = 20261231\n", "'expires' at /user.toml:4 must be a date: YYYY-MM-DD", ""),
    ("[[trust.waivers]]\nrule = 'SC101'\nreason = 'r'\nexpires = '2026-12-31T10:00'\n", "'expires' at /user.toml:4 must be a date: YYYY-MM-DD", ""),
    ("[[trust.waivers]]\nrule = 'SC101'\nreason = 'r'\nexpires = '2026-13-31'\n", "'expires' at /user.toml:4 must be a date: YYYY-MM-DD", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "hint"), WRONG)
def test_a_mistake_is_an_error_with_its_line(text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)

    assert caught.value.message.startswith(message)
    assert caught.value.hint.startswith(hint or "see all settings: ")


@pytest.mark.parametrize(("text", "message", "_hint"), WRONG)
def test_a_mistake_in_a_project_s_file_is_reported_and_stops_nothing(
    text: str, message: str, _hint: str
) -> None:
    policy = read(text, "project")

    assert TrustPolicy() == policy._replace(problems=())
    assert [("/project.toml", "WK012")] == [
        (problem.path, problem.code) for problem in policy.problems
    ]
    assert (
        message.startswith(("'waivers'", "'reason'", "'expires'", "unknown", "'baseline'"))
        or message.replace("/user", "/project") in policy.problems[0].message
    )


@pytest.mark.parametrize("values", [None, 3, [], "trust"])
def test_the_table_must_be_a_table(values: Any) -> None:
    with pytest.raises(ConfigError, match=r"'trust' at /user\.toml must be a table"):
        read_trust(values, ConfigSource("user", "/user.toml", "", {}))


# --- who may set what


def rule(level: str, verdict: str, phase: str, action: str) -> str:
    return f"[[trust.rules]]\nlevel = '{level}'\nverdict = '{verdict}'\nphase = '{phase}'\naction = '{action}'\n"


WAIVED = "waivers'"


@pytest.mark.parametrize(
    ("layer", "text", "field", "expected"),
    [
        ("organisation", "local_default = 'quarantined'", "local_default", "quarantined"),
        ("organisation", "local_default = 'community'", "local_default", "community"),
        ("organisation", "local_default = 'verified'", "local_default", None),
        ("organisation", "hash_mismatch_level = 'blocked'", "hash_mismatch_level", "blocked"),
        ("organisation", "hash_mismatch_level = 'community'", "hash_mismatch_level", None),
        ("organisation", "policy = 'strict'", "preset", "strict"),
        ("organisation", "policy = 'balanced'", "preset", "balanced"),
        ("organisation", "policy = 'permissive'", "preset", None),
        ("organisation", "trusted_sources = ['us/skills']", "trusted_sources", ("us/skills",)),
        ("organisation", "baseline = '/b'", "baseline", "/b"),
        ("user", "local_default = 'trusted'", "local_default", "trusted"),
        ("user", "policy = 'permissive'", "preset", "permissive"),
        ("session", "policy = 'permissive'", "preset", "permissive"),
        ("project", "local_default = 'quarantined'", "local_default", "quarantined"),
        ("project", "local_default = 'trusted'", "local_default", None),
        ("project", "hash_mismatch_level = 'blocked'", "hash_mismatch_level", "blocked"),
        ("project", "hash_mismatch_level = 'community'", "hash_mismatch_level", None),
        ("project", "policy = 'strict'", "preset", "strict"),
        ("project", "policy = 'permissive'", "preset", None),
        ("project", "trusted_sources = ['openai/skills']", "trusted_sources", ("openai/skills",)),
        ("project", "trusted_sources = []", "trusted_sources", ()),
        ("project", "baseline = '/b'", "baseline", None),
        ("project", f"[[trust.waivers]]\n{WAIVER}", "waivers", None),
    ],
)
def test_the_organisation_tightens_the_user_sets_and_a_project_narrows(
    layer: ConfigLayer, text: str, field: str, expected: Any
) -> None:  # MT-17
    policy = read(f"[trust]\n{text}\n", layer)

    assert (getattr(TrustPolicy(), field) if expected is None else expected) == getattr(
        policy, field
    )
    assert (1 if expected is None else 0) == len(policy.problems)
    assert all(
        (f"/{layer}.toml", "WK012" if layer == "project" else "TR001")
        == (problem.path, problem.code)
        for problem in policy.problems
    )
    assert all(
        problem.message.startswith(
            f"Ignored: '{WAIVED if 'waivers' in text else text.partition(' ')[0]}"
        )
        for problem in policy.problems
    )


def test_a_project_cannot_add_a_trusted_source() -> None:
    policy = read("[trust]\ntrusted_sources = ['evil/skills', 'openai/skills']\n", "project")

    assert ("openai/skills",) == policy.trusted_sources
    assert [
        "Ignored: the trusted source 'evil/skills'; a project may only narrow what you allow."
    ] == [one.message for one in policy.problems]


def test_what_the_organisation_says_is_the_user_s_limit() -> None:
    theirs = read(
        "[trust]\nlocal_default = 'quarantined'\nhash_mismatch_level = 'blocked'\npolicy = 'strict'\ntrusted_sources = ['us/skills', 'us/more']\n"
        + rule("community", "caution", "load", "ask"),
        "organisation",
    )

    mine = read(
        "[trust]\nlocal_default = 'community'\nhash_mismatch_level = 'quarantined'\npolicy = 'balanced'\ntrusted_sources = ['us/skills', 'me/skills']\n"
        + rule("community", "caution", "load", "warn")
        + rule("community", "safe", "run", "allow"),
        "user",
        theirs,
    )

    assert ("quarantined", "blocked", ("us/skills",), "strict") == mine[1:5]
    assert "ask" == mine.table.action("community", "caution", "load")
    assert "allow" == mine.table.action("community", "safe", "run")
    assert 5 == len(mine.problems)
    assert {("/user.toml", "TR001")} == {(problem.path, problem.code) for problem in mine.problems}


def test_a_user_may_be_stricter_than_the_organisation() -> None:
    theirs = read(
        "[trust]\nlocal_default = 'quarantined'\npolicy = 'balanced'\n"
        + rule("community", "safe", "load", "warn"),
        "organisation",
    )

    mine = read(
        "[trust]\nlocal_default = 'blocked'\npolicy = 'strict'\n"
        + rule("community", "safe", "load", "block"),
        "user",
        theirs,
    )

    assert ("blocked", "strict", "block", ()) == (
        mine.local_default,
        mine.preset,
        mine.table.action("community", "safe", "load"),
        mine.problems,
    )


@pytest.mark.parametrize(
    ("layer", "action", "expected", "code"),
    [
        ("organisation", "warn", "ask", "TR001"),
        ("organisation", "block", "block", ""),
        ("user", "warn", "warn", ""),
        ("session", "allow", "allow", ""),
        ("project", "warn", "ask", "WK012"),
        ("project", "block", "block", ""),
    ],
)
def test_a_rule_goes_as_far_as_its_layer_may(
    layer: ConfigLayer, action: str, expected: str, code: str
) -> None:  # MT-17
    policy = read(rule("community", "safe", "run", action), layer)

    assert expected == policy.table.action("community", "safe", "run")
    assert [code] * bool(code) == [problem.code for problem in policy.problems]


def test_a_rule_that_is_too_soft_is_reported_with_its_file() -> None:
    policy = read(rule("trusted", "dangerous", "run", "allow"))

    assert TrustPolicy() == policy._replace(problems=())
    assert [("/user.toml", "TR001")] == [
        (problem.path, problem.code) for problem in policy.problems
    ]


# --- waivers


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("rule = 'SC101'\nexpires = 2026-12-31\n", "reason"),
        ("rule = 'SC101'\nreason = '  '\nexpires = 2026-12-31\n", "reason"),
        ("rule = 'SC101'\nreason = 'r'\n", "expires"),
        ("rule = 'SC101'\nreason = 'r'\nexpires = ''\n", "expires"),
        ("rule = 'SC101'\n", "reason and no expires"),
    ],
)
def test_a_waiver_without_a_reason_or_a_last_day_does_not_apply_and_is_reported(
    text: str, missing: str
) -> None:
    policy = read(f"[[trust.waivers]]\n{text}")

    assert () == policy.waivers
    assert [
        ("/user.toml", "TR002", f"The waiver for SC101 does not apply: it gives no {missing}.")
    ] == list(policy.problems)


def test_waivers_of_organisation_and_user_add_up() -> None:
    theirs = read(f"[[trust.waivers]]\n{WAIVER}", "organisation")

    both = read(
        "[[trust.waivers]]\nrule = 'SC101'\nreason = 'r'\nexpires = '2026-12-31'\n", "user", theirs
    )

    assert ["/organisation.toml", "/user.toml"] == [waiver.told_by for waiver in both.waivers]


@pytest.mark.parametrize(
    ("organisation", "user", "project", "expected", "ignored"),
    [
        ("", "", "", "allow", 0),
        ("", "ask", "", "ask", 0),
        ("", "", "ask", "ask", 0),
        ("", "ask", "allow", "ask", 1),
        ("ask", "", "", "ask", 0),
        ("ask", "allow", "", "ask", 1),
        ("ask", "allow", "allow", "ask", 2),
        ("allow", "ask", "", "ask", 0),
        ("allow", "allow", "allow", "allow", 0),
    ],
)
def test_edits_may_be_made_to_ask_and_nobody_softens_that(
    organisation: str, user: str, project: str, expected: str, ignored: int
) -> None:
    policy = TrustPolicy()
    layers: tuple[ConfigLayer, ...] = ("organisation", "user", "project")
    for layer, word in zip(layers, (organisation, user, project), strict=True):
        if word:
            policy = read(f"[trust]\nedits = '{word}'\n", layer, policy)

    assert (expected, ignored) == (policy.edits, len(policy.problems))
