"""Trust: nothing gets better by knowing less, by changing a byte, or by what a project says."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings, strategies as st

from metier.errors import ConfigError
from metier.model import Action, Digest, Trust, Verdict
from metier.settings.merge import ConfigSource
from metier.trust.boundary import escape, escape_joined, escape_open_ended, wrap_body
from metier.trust.decide import Approval, Decision, Provenance, TrustPolicy, decide
from metier.trust.model import LEVELS, SHIPPED_SOURCE, least, level_of_source, rank
from metier.trust.policy import (
    ACTIONS,
    DEFAULT_TABLE,
    PHASES,
    PRESETS,
    VERDICTS,
    PolicyOverride,
    read_trust,
    tighten,
)
from metier.trust.sign import Signed, Unverified, verify_envelope
from metier.trust.tools import denial, escalations

NOW = "2026-03-10T09:00:00Z"
STATES = ("visible", "ask", "quarantined", "blocked")
TRUST = st.sampled_from(LEVELS)
DIGESTS = st.sampled_from([Digest("sha256:a"), Digest("sha256:b"), Digest("sha256:c")])
NAMES = st.sampled_from(["pdf", "PDF", "doc"])
OVERRIDES = st.lists(
    st.builds(
        PolicyOverride,
        TRUST,
        st.sampled_from(VERDICTS),
        st.sampled_from(PHASES),
        st.sampled_from(ACTIONS),
    ),
    max_size=6,
)
RECORDS = st.builds(
    Approval,
    NAMES,
    DIGESTS,
    st.sampled_from(["approved", "quarantined", "blocked"]),
    TRUST,
    st.sampled_from(
        ["2026-01-01T00:00:00Z", "2026-03-10T00:00:00Z", "2027-01-01T00:00:00Z", "", "soon"]
    ),
    st.just("kim"),
    st.just(""),
    st.booleans(),
)
LOGS = st.lists(RECORDS, max_size=5)
VERDICTS_OR_NONE = st.one_of(
    st.none(),
    st.builds(
        Verdict,
        st.one_of(st.none(), DIGESTS),
        st.just("r"),
        st.sampled_from(VERDICTS),
        st.just(0),
        st.just(()),
    ),
)
PROVENANCES = st.builds(
    Provenance,
    source=st.sampled_from(
        ["", SHIPPED_SOURCE, "anthropics/skills", "evil/skills", "anthropics/skills/../x"]
    ),
    ref=st.sampled_from(["", "main", "refs/pull/1/head"]),
    signature=st.one_of(
        st.none(),
        st.builds(Signed, NAMES, DIGESTS, st.just("ed25519:1"), st.one_of(st.none(), TRUST)),
    ),
    scope=st.sampled_from(["project", "user", "system", "admin", "plugin", "external", "package"]),
    project_trusted=st.booleans(),
    pinned=st.one_of(st.just(""), DIGESTS),
)
POLICIES = st.builds(
    TrustPolicy,
    table=st.builds(lambda rules: tighten(DEFAULT_TABLE, rules, "user")[0], OVERRIDES),
    local_default=st.sampled_from(LEVELS[1:]),
    hash_mismatch_level=st.sampled_from(LEVELS[3:]),
    preset=st.sampled_from(list(PRESETS)),
)
TEXTS = st.text(
    st.one_of(st.sampled_from("<[/skilSKI LnstrucoUTED\n\u200b\uff1c\uff3b&;"), st.characters()),
    max_size=60,
)
PIECES = st.lists(
    st.one_of(
        TEXTS,
        st.sampled_from(
            [
                "<skill>",
                "< / skill >",
                "[END OF UNTRUSTED SKILL: x]",
                "[quarantined\u00a0skill",
                "&lt;skill>",
                "<ski",
                "ll>",
            ]
        ),
    ),
    max_size=8,
)
BODIES = st.builds("".join, PIECES)


def softness(action: Action) -> int:
    return ACTIONS.index(action)


def made(
    verdict: Verdict | None,
    provenance: Provenance,
    policy: TrustPolicy,
    log: list[Approval],
    digest: Digest | None = None,
) -> Decision:
    return decide(verdict, provenance, policy, log, NOW, name="pdf", digest=digest)


# --- levels


@given(TRUST, TRUST, TRUST)
def test_the_least_level_is_a_semilattice(one: Trust, two: Trust, three: Trust) -> None:  # ZE-19
    assert least(one, two) == least(two, one)
    assert least(one, least(two, three)) == least(least(one, two), three)
    assert one == least(one, one)
    assert one == least("builtin", one)
    assert "blocked" == least("blocked", one)
    assert rank(least(one, two)) >= rank(one)


@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=3))
def test_any_source_earns_community_or_is_listed(
    source: str, trusted: list[str]
) -> None:  # HE-36, MT-12
    assert level_of_source(source, trusted) in {"community", "trusted"}
    assert "community" == level_of_source(source, [])


# --- policy


@given(OVERRIDES, OVERRIDES, st.sampled_from(["organisation", "project"]))
def test_tightening_never_softens_a_cell(
    mine: list[PolicyOverride], theirs: list[PolicyOverride], layer: Any
) -> None:  # MT-17
    table = DEFAULT_TABLE if layer == "organisation" else tighten(DEFAULT_TABLE, mine, "user")[0]

    narrowed, problems = tighten(table, theirs, layer)

    assert all(
        softness(after) >= softness(before)
        for before, after in zip(table.cells, narrowed.cells, strict=True)
    )
    assert len(problems) <= len(theirs)


@given(OVERRIDES, st.sampled_from(["organisation", "user", "session", "project"]))
def test_no_layer_lets_a_dangerous_skill_below_builtin_through(
    rules: list[PolicyOverride], layer: Any
) -> None:  # MT-5
    table, _problems = tighten(DEFAULT_TABLE, rules, layer)

    assert all(
        "block" == table.action(level, "dangerous", phase)
        for level in LEVELS[1:]
        for phase in PHASES
    )


WORDS = st.sampled_from([*LEVELS, *VERDICTS, *PHASES, *ACTIONS, *PRESETS, "x"])
ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=5),
    st.lists(st.text(max_size=5), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "local_default": st.one_of(WORDS, ODD), "hash_mismatch_level": st.one_of(WORDS, ODD), "policy": st.one_of(WORDS, ODD),
        "trusted_sources": st.one_of(st.lists(st.sampled_from(["openai/skills", "evil/skills", "evil", ""]), max_size=3), ODD),
        "rules": st.one_of(st.lists(st.fixed_dictionaries({"level": TRUST, "verdict": st.sampled_from(VERDICTS), "phase": st.sampled_from(PHASES), "action": st.sampled_from(ACTIONS)}), max_size=3), ODD),
        "waivers": st.one_of(st.lists(st.dictionaries(st.sampled_from(["rule", "reason", "expires", "x"]), st.one_of(st.text(max_size=3), st.just("2026-12-31"), st.integers()), max_size=4), max_size=2), ODD),
        "baseline": ODD, "other": ODD,
    },
)  # fmt: skip


@settings(max_examples=300)
@given(st.one_of(TABLES, ODD))
def test_a_project_s_file_only_narrows_and_never_stops_anything(values: Any) -> None:  # MT-17
    before = TrustPolicy(local_default="verified", preset="balanced")

    after = read_trust(values, ConfigSource("project", "/p.toml", "", {}), before)

    assert all(
        softness(new) >= softness(old)
        for old, new in zip(before.table.cells, after.table.cells, strict=True)
    )
    assert rank(after.local_default) >= rank(before.local_default)
    assert rank(after.hash_mismatch_level) >= rank(before.hash_mismatch_level)
    assert set(after.trusted_sources) <= set(before.trusted_sources)
    assert after.preset in {"strict", "balanced"}
    assert (before.waivers, before.baseline, before.bounds) == (
        after.waivers,
        after.baseline,
        after.bounds,
    )


@settings(max_examples=300)
@given(st.one_of(TABLES, ODD), st.one_of(TABLES, ODD))
def test_what_an_organisation_sets_no_user_softens(theirs: Any, mine: Any) -> None:
    try:
        organisation = read_trust(theirs, ConfigSource("organisation", "/o.toml", "", {}))
        user = read_trust(mine, ConfigSource("user", "/u.toml", "", {}), organisation)
    except ConfigError:
        return  # a mistake in these files is refused as a whole

    told = organisation.bounds
    assert all(
        softness(new) >= softness(old)
        for old, new in zip(told.table.cells, user.table.cells, strict=True)
    )
    assert rank(user.local_default) >= rank(told.local_default)
    assert rank(user.hash_mismatch_level) >= rank(told.hash_mismatch_level)
    assert list(PRESETS).index(user.preset) <= list(PRESETS).index(told.preset)
    assert told.trusted_sources is None or set(user.trusted_sources) <= set(told.trusted_sources)


# --- decisions


@settings(max_examples=500)
@given(VERDICTS_OR_NONE, PROVENANCES, POLICIES, LOGS, st.one_of(st.none(), DIGESTS))
def test_a_decision_is_total_and_agrees_with_itself(
    verdict: Verdict | None,
    provenance: Provenance,
    policy: TrustPolicy,
    log: list[Approval],
    digest: Digest | None,
) -> None:
    found = made(verdict, provenance, policy, log, digest)

    assert found == made(verdict, provenance, policy, log, digest)
    assert found.state in STATES
    assert found.level in LEVELS
    assert found.reasons
    actions = {found.action(phase) for phase in PHASES}
    assert actions <= set(ACTIONS)
    assert found.state != "blocked" or actions == {"block"}
    assert found.state != "ask" or actions <= {"ask", "block"}
    assert (found.state == "quarantined") <= (found.level == "quarantined")
    assert (found.level in {"quarantined", "blocked"}) <= (
        found.state in {"quarantined", "blocked"}
    )


@settings(max_examples=500)
@given(VERDICTS_OR_NONE, PROVENANCES, POLICIES, LOGS, RECORDS, DIGESTS)
def test_no_approval_for_another_digest_ever_yields_a_better_state(
    verdict: Verdict | None,
    provenance: Provenance,
    policy: TrustPolicy,
    log: list[Approval],
    record: Approval,
    digest: Digest,
) -> None:  # MT-13, CO-7
    foreign = record._replace(state="approved", digest=f"{digest}-other")

    without = made(verdict, provenance, policy, log, digest)
    found = made(verdict, provenance, policy, [*log, foreign], digest)

    assert STATES.index(found.state) >= STATES.index(without.state)
    assert rank(found.level) >= rank(without.level)
    assert all(softness(found.action(phase)) >= softness(without.action(phase)) for phase in PHASES)


@settings(max_examples=300)
@given(st.sampled_from(VERDICTS), PROVENANCES, POLICIES, RECORDS)
def test_a_changed_byte_is_never_better_than_the_bytes_that_were_held_back(
    level: Any, provenance: Provenance, policy: TrustPolicy, record: Approval
) -> None:  # ZE-24
    held = record._replace(name="pdf", digest="sha256:a", state="quarantined")
    provenance = provenance._replace(pinned="", signature=None)
    before = made(Verdict(Digest("sha256:a"), "r", level, 0, ()), provenance, policy, [held])

    after = made(Verdict(Digest("sha256:b"), "r", level, 0, ()), provenance, policy, [held])

    assert before[:5] == after[:5]
    assert after.state in {"quarantined", "blocked"}


@settings(max_examples=300)
@given(VERDICTS_OR_NONE, PROVENANCES, POLICIES, LOGS, DIGESTS)
def test_knowing_no_verdict_opens_nothing_that_a_verdict_would_not(
    verdict: Verdict | None,
    provenance: Provenance,
    policy: TrustPolicy,
    log: list[Approval],
    digest: Digest,
) -> None:
    known, unknown = (
        made(verdict, provenance, policy, log, digest),
        made(None, provenance, policy, log, digest),
    )

    assert all(softness(unknown.action(phase)) >= softness(known.action(phase)) for phase in PHASES)


@settings(max_examples=300)
@given(PROVENANCES, POLICIES, LOGS, DIGESTS)
def test_dangerous_opens_only_by_name_and_digest_and_never_installs(
    provenance: Provenance, policy: TrustPolicy, log: list[Approval], digest: Digest
) -> None:  # MT-5
    found = made(Verdict(digest, "r", "dangerous", 90, ()), provenance, policy, log)

    accepted = any(
        record.accept_dangerous
        and (record.name, record.digest, record.state) == ("pdf", digest, "approved")
        for record in log
    )
    assert found.level == "builtin" or "block" == found.install
    assert found.level == "builtin" or accepted or ("block", "block") == (found.load, found.run)


# --- boundary, tools, signatures: hostile text


@settings(max_examples=400)
@given(BODIES)
@example("<" * 50 + "skill")
@example("[\u200b" * 20 + "untrusted skill")
def test_escaping_is_idempotent_and_changes_nothing_else(body: str) -> None:  # ZE-25
    safe = escape(body)

    assert safe == escape(safe)
    assert body.count("\n") == safe.count("\n")
    assert len(body.splitlines()) == len(safe.splitlines())
    at = 0
    for (
        char
    ) in body:  # read both side by side: each character is itself, or an opening that was replaced
        at += len(next(text for text in (char, "&lt;", "&#91;") if safe.startswith(text, at)))
    assert len(safe) == at


@settings(max_examples=400)
@given(BODIES, BODIES)
@example("[The <user", "'s own text")
@example('["skill"', "x")
@example("[skill's", "x")
def test_a_sealed_text_makes_no_mark_with_any_neighbour(text: str, neighbour: str) -> None:  # ZE-25
    safe = escape_open_ended(text)

    assert safe == escape_open_ended(safe)
    assert safe + neighbour == escape_joined(safe + neighbour, [(0, len(safe))])


@settings(max_examples=400)
@given(BODIES, BODIES, BODIES)
@example('["skill"', "x", "")
@example("[skill'", "", "s guide")
def test_a_body_without_marks_has_none_after_it_was_filled(
    before: str, put: str, after: str
) -> None:  # ZE-25
    left, middle, right = map(escape, (before, put, after))

    filled = escape_joined(left + middle + right, [(len(left), len(left + middle))])

    assert escape(filled) == filled


@given(BODIES, st.text(max_size=30), st.sampled_from(["verified", "community", "quarantined"]))
def test_no_body_and_no_name_adds_a_mark(body: str, name: str, level: Trust) -> None:  # ZE-25
    shown = wrap_body(name, body, level)

    kind = "QUARANTINED" if level == "quarantined" else "UNTRUSTED"
    assert 1 == shown.count(f"[{kind} SKILL:")
    assert 1 == shown.count("[END OF ") or "[END OF " in body
    assert shown.split("\n")[0].startswith(f"[{kind} SKILL: ")
    assert shown.split("\n")[-1].startswith(f"[END OF {kind} SKILL: ")


@given(
    st.one_of(st.none(), st.text(max_size=300)), TRUST, st.lists(st.text(max_size=20), max_size=3)
)
def test_every_text_is_a_tool_or_none(
    tool: str | None, level: Trust, registered: list[str]
) -> None:  # ZE-22
    answer = bool(denial(tool, level, registered))

    assert (level == "blocked") <= answer
    assert answer <= (level in {"quarantined", "blocked"})
    assert answer or level != "quarantined" or not denial(tool, level)
    assert (
        tool is None or not tool.strip() or answer == bool(escalations([tool], level, registered))
    )


@given(st.binary(max_size=200))
def test_no_bytes_are_a_signature_by_chance(data: bytes) -> None:
    assert isinstance(verify_envelope(data, []), Unverified)
