"""May a skill be used? One row for every branch of the decision."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from metier.errors import IntegrityError, RefusedError
from metier.model import Digest, Finding, Level, Phase, Trust, Verdict
from metier.trust.decide import Approval, Decision, Policy, Provenance, Usable, decide, usable
from metier.trust.levels import SHIPPED
from metier.trust.policy import DEFAULT
from metier.trust.sign import Signed

NOW = "2026-03-10T09:00:00Z"
A, B, C = Digest("sha256:aa"), Digest("sha256:bb"), Digest("sha256:cc")
FINDING = Finding("SC101", "high", "injection", "SKILL.md", 3, 1, "…", "why", "hint", "f1")


def scanned(level: Level = "safe", digest: Digest | None = A) -> Verdict:
    return Verdict(digest, "sha256:rules", level, 0, () if level == "safe" else (FINDING,))


def said(state: Any, digest: str = A, level: Trust = "community", **more: Any) -> Approval:
    return Approval(**{"name": "pdf", "digest": digest, "state": state, "level": level, "at": "2026-03-01T10:00:00Z", **more})


SAFE, CAUTION, DANGEROUS = scanned(), scanned("caution"), scanned("dangerous")
USER, EXTERNAL = Provenance(), Provenance(scope="external")
UNTRUSTED = Provenance(scope="project", project="/work/p")
PROJECT = Provenance(scope="project", project_trusted=True)
TRUSTED, BUILTIN = Provenance("anthropics/skills"), Provenance(SHIPPED, scope="package")
YES, NO, HELD = said("approved"), said("blocked"), said("quarantined")
ACCEPTED = said("approved", accept_dangerous=True, reason="read it all")
GOOD_KEY = Signed("pdf", A, "ed25519:1")


class Row(NamedTuple):
    """One branch: what is known, and state, level and the actions of install, load and run that must follow."""

    case: str
    verdict: Verdict | None
    provenance: Provenance
    approvals: tuple[Approval, ...]
    expected: str
    policy: Policy = Policy()


ROWS = [
    # --- by level and verdict alone (decisions 3, 4, 12)
    Row("community safe", SAFE, USER, (), "visible community allow allow ask"),
    Row("community caution", CAUTION, USER, (), "visible community block warn ask"),
    Row("community dangerous", DANGEROUS, USER, (), "blocked community block block block"),
    Row("an unknown source is community", SAFE, Provenance("evil/skills"), (), "visible community allow allow ask"),
    Row("a trusted source", SAFE, TRUSTED, (), "visible trusted allow allow allow"),
    Row("a trusted source, caution", CAUTION, TRUSTED, (), "visible trusted allow allow allow"),
    Row("a trusted source, dangerous", DANGEROUS, TRUSTED, (), "blocked trusted block block block"),
    Row("a pull request to a trusted source", SAFE, Provenance("anthropics/skills", ref="refs/pull/7/head"), (), "visible community allow allow ask"),
    Row("shipped with metier", DANGEROUS, BUILTIN, (), "visible builtin allow allow allow"),
    Row("a wheel's skill", SAFE, Provenance(scope="package"), (), "visible community allow allow ask"),
    # --- nobody has scanned it (decision 29): it is listed, and used by nobody
    Row("not scanned", None, USER, (), "visible community block block block"),
    Row("not scanned, shipped", None, BUILTIN, (), "visible builtin allow allow allow"),
    Row("not scanned, approved", None, USER, (ACCEPTED,), "visible community block block block"),
    Row("a verdict about other bytes", scanned("safe", B), USER, (), "visible community block block block"),
    # --- roots given by hand stay visible; the table still decides what is loaded and run
    Row("installed in a project that nobody trusts", SAFE, UNTRUSTED, (said("approved", installed=True),), "visible community allow allow ask"),
    Row("installed, doubtful", CAUTION, UNTRUSTED, (said("approved", installed=True),), "visible community block allow ask"),
    Row("installed, and changed since", SAFE, UNTRUSTED, (said("approved", B, installed=True),), "ask community ask ask ask"),
    Row("installed, its danger accepted", DANGEROUS, USER, (said("approved", installed=True, accept_dangerous=True),), "visible community block warn warn"),
    Row("external safe", SAFE, EXTERNAL, (), "visible community allow allow ask"),
    Row("external caution", CAUTION, EXTERNAL, (), "visible community block warn ask"),
    Row("external dangerous", DANGEROUS, EXTERNAL, (), "visible community block block block"),
    Row("external is community whatever its source", SAFE, Provenance("anthropics/skills", scope="external"), (), "visible community allow allow ask"),
    Row("external is not builtin", SAFE, Provenance(SHIPPED, scope="external"), (), "visible community allow allow ask"),
    Row("external and blocked", SAFE, EXTERNAL, (NO,), "blocked blocked block block block"),
    Row("external and changed", SAFE, EXTERNAL, (said("approved", B),), "ask community ask ask ask"),
    # --- untrusted projects (decision 18)
    Row("untrusted project", SAFE, UNTRUSTED, (), "ask community ask ask ask"),
    Row("untrusted project, caution", CAUTION, UNTRUSTED, (), "ask community block ask ask"),
    Row("untrusted project, dangerous", DANGEROUS, UNTRUSTED, (), "blocked community block block block"),
    Row("untrusted project, not scanned", None, UNTRUSTED, (), "ask community block block block"),
    Row("an untrusted project's word about its source", SAFE, UNTRUSTED._replace(source="anthropics/skills"), (), "ask community ask ask ask"),
    Row("untrusted project, shipped by its own word", SAFE, UNTRUSTED._replace(source=SHIPPED), (), "ask community ask ask ask"),
    Row("untrusted project, these bytes approved", SAFE, UNTRUSTED, (YES,), "visible community allow allow allow"),
    Row("untrusted project, blocked", SAFE, UNTRUSTED, (NO,), "blocked blocked block block block"),
    Row("trusted project", SAFE, PROJECT, (), "visible community allow allow ask"),
    # --- these bytes were spoken about (decision 13)
    Row("approved safe", SAFE, USER, (YES,), "visible community allow allow allow"),
    Row("approved caution: what is pinned is exempt", CAUTION, USER, (YES,), "visible community block allow allow"),
    Row("approved as trusted", CAUTION, USER, (said("approved", level="trusted"),), "visible trusted allow allow allow"),
    Row("approval never makes builtin", CAUTION, USER, (said("approved", level="builtin"),), "visible trusted allow allow allow"),
    Row("approval does not lower", SAFE, TRUSTED, (YES,), "visible trusted allow allow allow"),
    Row("quarantined", SAFE, USER, (HELD,), "quarantined quarantined block warn block"),
    Row("quarantined and dangerous", DANGEROUS, USER, (HELD,), "blocked quarantined block block block"),
    Row("quarantined and trusted", SAFE, TRUSTED, (HELD,), "quarantined quarantined block warn block"),
    Row("blocked", SAFE, USER, (NO,), "blocked blocked block block block"),
    Row("blocked though shipped", SAFE, BUILTIN, (NO,), "blocked blocked block block block"),
    Row("blocked, not scanned", None, USER, (NO,), "blocked blocked block block block"),
    Row("the last word counts: unblocked", SAFE, USER, (NO, HELD), "quarantined quarantined block warn block"),
    Row("the last word counts: approved", SAFE, USER, (NO, HELD, YES), "visible community allow allow allow"),
    Row("the last word counts: blocked", SAFE, USER, (YES, NO), "blocked blocked block block block"),
    Row("a record that cannot be read blocks", SAFE, USER, (said("aproved"),), "blocked blocked block block block"),
    Row("an approval from tomorrow", SAFE, UNTRUSTED, (said("approved", at="2026-03-11T00:00:00Z"),), "ask community ask ask ask"),
    Row("an approval of today", SAFE, UNTRUSTED, (said("approved", at="2026-03-10T23:59:59Z"),), "visible community allow allow allow"),
    Row("an approval without a day", SAFE, UNTRUSTED, (said("approved", at="soon"),), "ask community ask ask ask"),
    Row("an approval from tomorrow does not hide a block", SAFE, USER, (said("approved", at="2026-03-11T00:00:00Z"), NO), "blocked blocked block block block"),
    Row("a block from tomorrow", SAFE, USER, (said("blocked", at="2027-01-01T00:00:00Z"),), "blocked blocked block block block"),
    # --- dangerous, and accepted by name (decision 5)
    Row("approved is not accepted", DANGEROUS, USER, (YES,), "blocked community block block block"),
    Row("accepted", DANGEROUS, USER, (ACCEPTED,), "visible community block warn warn"),
    Row("accepted, trusted source", DANGEROUS, TRUSTED, (ACCEPTED,), "visible trusted block warn warn"),
    Row("accepted for other bytes", DANGEROUS, USER, (ACCEPTED._replace(digest=B),), "blocked community block block block"),
    Row("accepted for another name", DANGEROUS, USER, (ACCEPTED._replace(name="doc"),), "blocked community block block block"),
    Row("accepted and then blocked", DANGEROUS, USER, (ACCEPTED, NO), "blocked blocked block block block"),
    Row("accepted as quarantined", DANGEROUS, Provenance(pinned=B), (ACCEPTED._replace(level="quarantined"),), "blocked quarantined block block block"),
    Row("a block does not accept", DANGEROUS, USER, (NO._replace(accept_dangerous=True),), "blocked blocked block block block"),
    # --- other bytes of this name were spoken about (ZE-24): change a byte, ask again
    Row("changed since approved", SAFE, USER, (said("approved", B),), "ask community ask ask ask"),
    Row("changed since approved as trusted", SAFE, USER, (said("approved", B, "trusted"),), "ask community ask ask ask"),
    Row("changed since approved, dangerous", DANGEROUS, USER, (said("approved", B),), "blocked community block block block"),
    Row("changed since blocked", SAFE, USER, (said("blocked", B),), "quarantined quarantined block ask block"),
    Row("changed since quarantined", SAFE, TRUSTED, (said("quarantined", B),), "quarantined quarantined block warn block"),
    Row("changed, one was blocked and a later one approved", SAFE, USER, (said("blocked", B), said("approved", C)), "quarantined quarantined block ask block"),
    Row("changed, one was approved and a later one blocked", SAFE, USER, (said("approved", C), said("blocked", B)), "quarantined quarantined block ask block"),
    Row("changed, one was quarantined and a later one approved", SAFE, USER, (said("quarantined", B), said("approved", C)), "quarantined quarantined block warn block"),
    Row("changed, one record cannot be read and a later one approved", SAFE, USER, (said("aproved", B), said("approved", C)), "quarantined quarantined block warn block"),
    Row("changed, one was approved and a later record cannot be read", SAFE, USER, (said("approved", C), said("aproved", B)), "quarantined quarantined block warn block"),
    Row("changed, unblocked and approved before", SAFE, USER, (said("blocked", B), said("approved", B)), "ask community ask ask ask"),
    Row("these approved, others blocked", SAFE, USER, (said("blocked", B), YES), "visible community allow allow allow"),
    Row("these blocked, others approved", SAFE, USER, (NO, said("approved", B)), "blocked blocked block block block"),
    # --- other names, as in CO-7 and CO-27
    Row("an approval under another name", SAFE, UNTRUSTED, (YES._replace(name="doc"),), "ask community ask ask ask"),
    Row("an approval under another spelling", SAFE, UNTRUSTED, (YES._replace(name="PDF"),), "ask community ask ask ask"),
    Row("these bytes blocked under another name", SAFE, USER, (NO._replace(name="doc"),), "blocked blocked block block block"),
    Row("these bytes blocked under another name, approved under this", SAFE, USER, (NO._replace(name="doc"), YES), "blocked blocked block block block"),
    Row("these bytes blocked under another name, quarantined under this", SAFE, USER, (NO._replace(name="doc"), HELD), "blocked blocked block block block"),
    Row("these bytes quarantined under another name, blocked under this", SAFE, USER, (HELD._replace(name="doc"), NO), "blocked blocked block block block"),
    Row("these bytes quarantined under another name, approved under this", SAFE, USER, (HELD._replace(name="doc"), YES), "quarantined quarantined block warn block"),
    Row("these bytes unblocked under another name", SAFE, USER, (NO._replace(name="doc"), YES._replace(name="doc")), "visible community allow allow ask"),
    Row("other bytes approved under another name", SAFE, USER, (said("approved", B, name="doc"),), "visible community allow allow ask"),
    Row("other bytes blocked under another spelling", SAFE, USER, (said("blocked", B, name="\uff30df"),), "quarantined quarantined block ask block"),
    Row("other bytes approved under another spelling", SAFE, USER, (said("approved", B, name="PDF"),), "visible community allow allow ask"),
    # --- hash mismatch (ZE-24)
    Row("as pinned", SAFE, TRUSTED._replace(pinned=A), (), "visible trusted allow allow allow"),
    Row("not as pinned", SAFE, TRUSTED._replace(pinned=B), (), "quarantined quarantined block warn block"),
    Row("not as pinned, approved", SAFE, TRUSTED._replace(pinned=B), (YES,), "visible community allow allow allow"),
    Row("not as pinned, shipped", SAFE, BUILTIN._replace(pinned=B), (), "quarantined quarantined block warn block"),
    Row("not as pinned, by policy blocked", SAFE, TRUSTED._replace(pinned=B), (YES,), "blocked blocked block block block", Policy(hash_mismatch_level="blocked")),
    Row("not as pinned, by policy community", SAFE, TRUSTED._replace(pinned=B), (), "visible community allow allow ask", Policy(hash_mismatch_level="community")),
    # --- signatures
    Row("signed", CAUTION, Provenance("a/b", signature=GOOD_KEY), (), "visible verified allow warn ask"),
    Row("signed for other bytes", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(digest=B)), (), "visible community block warn ask"),
    Row("signed for another name", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(name="doc")), (), "visible community block warn ask"),
    Row("signed as trusted is verified", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(level="trusted")), (), "visible verified allow warn ask"),
    Row("signed as community", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(level="community")), (), "visible community block warn ask"),
    Row("a signature does not lower", CAUTION, TRUSTED._replace(signature=GOOD_KEY), (), "visible trusted allow allow allow"),
    Row("a signature does not lift quarantine", SAFE, Provenance(signature=GOOD_KEY), (), "quarantined quarantined block warn block", Policy(local_default="quarantined")),
    Row("a signature does not undo a mismatch", SAFE, Provenance("a/b", signature=GOOD_KEY, pinned=B), (), "quarantined quarantined block warn block"),
    # --- what configuration says, as in decision 12
    Row("local default trusted", CAUTION, USER, (), "visible trusted allow allow allow", Policy(local_default="trusted")),
    Row("local default trusted, trusted project", SAFE, PROJECT, (), "visible trusted allow allow allow", Policy(local_default="trusted")),
    Row("local default trusted, system", SAFE, Provenance(scope="system"), (), "visible trusted allow allow allow", Policy(local_default="trusted")),
    Row("local default trusted, admin", SAFE, Provenance(scope="admin"), (), "visible trusted allow allow allow", Policy(local_default="trusted")),
    Row("local default trusted, untrusted project", SAFE, UNTRUSTED, (), "ask community ask ask ask", Policy(local_default="trusted")),
    Row("local default trusted, external", SAFE, EXTERNAL, (), "visible community allow allow ask", Policy(local_default="trusted")),
    Row("local default trusted, a plugin", SAFE, Provenance(scope="plugin"), (), "visible community allow allow ask", Policy(local_default="trusted")),
    Row("local default quarantined", SAFE, USER, (), "quarantined quarantined block warn block", Policy(local_default="quarantined")),
    Row("local default quarantined, external", SAFE, EXTERNAL, (), "quarantined quarantined block warn block", Policy(local_default="quarantined")),
    Row("local default quarantined, approved", SAFE, USER, (YES,), "visible community allow allow allow", Policy(local_default="quarantined")),
    Row("local default blocked", SAFE, USER, (YES,), "blocked blocked block block block", Policy(local_default="blocked")),
    Row("local default blocked, trusted source", SAFE, TRUSTED, (), "visible trusted allow allow allow", Policy(local_default="blocked")),
    Row("a source that configuration trusts", SAFE, Provenance("a/b"), (), "visible trusted allow allow allow", Policy(trusted_sources=("a/b",))),
    Row("a source that configuration trusts no longer", SAFE, TRUSTED, (), "visible community allow allow ask", Policy(trusted_sources=("a/b",))),
    Row("strict", CAUTION, USER, (), "blocked community block block block", Policy(preset="strict")),
    Row("strict, approved", CAUTION, USER, (YES,), "blocked community block block block", Policy(preset="strict")),
    Row("strict, accepted", CAUTION, USER, (ACCEPTED,), "visible community block warn warn", Policy(preset="strict")),
    Row("permissive", CAUTION, USER, (), "visible community allow allow ask", Policy(preset="permissive")),
    Row("permissive, dangerous", DANGEROUS, USER, (), "blocked community block block block", Policy(preset="permissive")),
    Row("load blocked by table", CAUTION, USER, (), "blocked community block block block", Policy(DEFAULT.with_cell("community", "caution", "load", "block"))),
    Row("load blocked by table, approved", CAUTION, USER, (YES,), "blocked community block block block", Policy(DEFAULT.with_cell("community", "caution", "load", "block"))),
    Row("load asked by table", SAFE, USER, (), "ask community ask ask ask", Policy(DEFAULT.with_cell("community", "safe", "load", "ask"))),
    Row("load asked by table, external", SAFE, EXTERNAL, (), "visible community allow ask ask", Policy(DEFAULT.with_cell("community", "safe", "load", "ask"))),
    Row("load asked by table, quarantined", SAFE, USER, (HELD,), "quarantined quarantined block ask block", Policy(DEFAULT.with_cell("quarantined", "safe", "load", "ask"))),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=[row.case for row in ROWS])
def test_every_branch_of_the_decision(row: Row) -> None:
    found = decide(row.verdict, row.provenance, row.policy, row.approvals, NOW, name="pdf", digest=A)

    assert row.expected == f"{found.state} {found.level} {found.install} {found.load} {found.run}"
    assert found.reasons
    assert ("pdf", A) == (found.name, found.digest)


def test_the_digest_is_the_verdict_s_unless_one_is_given() -> None:
    found = decide(SAFE, USER, Policy(), (YES,), NOW, name="pdf")

    assert (A, "allow") == (found.digest, found.run)


def test_without_a_digest_a_block_of_the_name_holds_and_any_other_record_counts_as_one_about_other_bytes() -> None:
    found = [decide(None, USER, Policy(), (record,), NOW, name="pdf").state for record in (YES, HELD, NO)]

    assert ["ask", "quarantined", "blocked"] == found


@pytest.mark.parametrize(
    ("provenance", "expected"),
    [(USER, "ask community ask ask ask"), (TRUSTED, "ask trusted ask ask ask"), (BUILTIN, "ask builtin ask ask ask"), (EXTERNAL, "visible community allow ask ask")],
)
def test_what_cannot_be_read_whole_is_asked_for_whoever_it_comes_from(provenance: Provenance, expected: str) -> None:
    found = decide(scanned(digest=None), provenance, Policy(), (), NOW, name="pdf")

    assert expected == f"{found.state} {found.level} {found.install} {found.load} {found.run}"
    assert "it cannot be read whole, so nothing about its bytes can be vouched for" in found.reasons
    assert found.digest is None


def reasons_of(verdict: Verdict | None, provenance: Provenance, *approvals: Approval, policy: Policy = Policy()) -> tuple[str, ...]:  # noqa: B008 - a value
    return decide(verdict, provenance, policy, approvals, NOW, name="pdf", digest=A).reasons


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: reasons_of(SAFE, USER), ("level community: its source is not known", "run: ask")),
        (lambda: reasons_of(SAFE, EXTERNAL), ("level community: its root was named by hand", "run: ask")),
        (lambda: reasons_of(SAFE, BUILTIN), ("level builtin: it comes with metier",)),
        (lambda: reasons_of(SAFE, TRUSTED), ("level trusted: it comes from anthropics/skills",)),
        (lambda: reasons_of(SAFE, TRUSTED._replace(ref="pull/7")), ("level community: it comes from anthropics/skills, from a pull request", "run: ask")),
        (lambda: reasons_of(None, USER), ("level community: its source is not known", "not scanned yet; nothing is installed, loaded or run before that")),
        (lambda: reasons_of(None, BUILTIN), ("level builtin: it comes with metier",)),
        (lambda: reasons_of(CAUTION, USER), ("level community: its source is not known", "the scan says caution: 1 finding, first SC101", "install: block", "run: ask", "load: warn")),
        (lambda: reasons_of(CAUTION, TRUSTED, policy=Policy(preset="strict"))[1:], ("the scan says caution: 1 finding, first SC101; the preset 'strict' counts it as dangerous", "install and load and run: block")),
        (lambda: reasons_of(DANGEROUS._replace(findings=(FINDING, FINDING)), TRUSTED)[1], "the scan says dangerous: 2 findings, first SC101"),
        (lambda: reasons_of(DANGEROUS._replace(findings=()), TRUSTED)[1], "the scan says dangerous: 0 findings"),
        (lambda: reasons_of(DANGEROUS, USER, ACCEPTED._replace(by="kim"))[1:], ("these bytes were approved on 2026-03-01 by kim: read it all", "the scan says dangerous: 1 finding, first SC101", "a person accepted the danger of these bytes, for load and run", "install: block", "load and run: warn")),
        (lambda: reasons_of(SAFE, USER, said("approved", B))[1], "changed since it was approved on 2026-03-01; approve these bytes to use it"),
        (lambda: reasons_of(SAFE, USER, said("blocked", B))[1], "changed since it was blocked on 2026-03-01; it stays quarantined until these bytes are approved"),
        (lambda: reasons_of(SAFE, USER, said("blocked", B, at="2026-02-01"), said("blocked", C))[1], "changed since it was blocked on 2026-03-01; it stays quarantined until these bytes are approved"),
        (lambda: reasons_of(SAFE, USER, said("blocked", C), said("quarantined", B, at="2026-03-02"))[1], "changed since it was blocked on 2026-03-01; it stays quarantined until these bytes are approved"),
        (lambda: reasons_of(SAFE, USER, said("aproved", B, at="2026-02-01"), said("quarantined", C))[1], "changed since it was aproved on 2026-02-01; it stays quarantined until these bytes are approved"),
        (lambda: reasons_of(SAFE, USER, said("aproved", B, at="2026-02-01"), said("blocked", C))[1], "changed since it was blocked on 2026-03-01; it stays quarantined until these bytes are approved"),
        (lambda: reasons_of(SAFE, USER, NO._replace(name="doc"))[1], "these bytes, as 'doc', were blocked on 2026-03-01"),
        (lambda: reasons_of(SAFE, UNTRUSTED)[1], "its project is not trusted; after a look at it, 'metier trust project /work/p' offers its skills"),
        (lambda: reasons_of(SAFE, UNTRUSTED._replace(project=""))[1], "its project is not trusted; after a look at it, 'metier trust project DIR' offers its skills"),
        (lambda: reasons_of(SAFE, Provenance("a/b", signature=GOOD_KEY))[1], "level verified: signed by the trusted key ed25519:1"),
        (lambda: reasons_of(SAFE, TRUSTED._replace(pinned=B))[1], "level quarantined: the content is not what its lock or manifest promises"),
    ],
)  # fmt: skip
def test_a_decision_says_why(found: Callable[[], object], expected: object) -> None:
    assert expected == found()


# --- Usable: what consumers accept


def allowed(**actions: Any) -> Decision:
    return decide(SAFE, TRUSTED, Policy(), (), NOW, name="pdf")._replace(**actions)


def test_a_yes_becomes_a_usable_that_holds_candidate_decision_and_phase() -> None:
    decision = allowed(load="warn")

    found = usable("candidate", A, decision, "load")

    assert ("candidate", decision, "load") == (found.candidate, found.decision, found.phase)


@pytest.mark.parametrize("phase", ["install", "load", "run"])
def test_a_blocked_phase_gives_no_usable_even_with_consent(phase: Phase) -> None:
    decision = allowed(**{phase: "block"})

    with pytest.raises(RefusedError) as caught:
        usable("candidate", A, decision, phase, consent=True)

    assert "blocked" == caught.value.code
    assert f"'pdf' may not be used ({phase}): level trusted: it comes from anthropics/skills" == caught.value.message
    assert "see 'metier why pdf'" == caught.value.hint


def test_a_question_needs_a_person_s_yes() -> None:
    decision = allowed(run="ask")

    with pytest.raises(RefusedError) as caught:
        usable("candidate", A, decision, "run")

    assert "ask" == caught.value.code
    assert "'pdf' needs your approval (run): level trusted: it comes from anthropics/skills" == caught.value.message
    assert "metier trust approve pdf" in caught.value.hint
    assert "candidate" == usable("candidate", A, decision, "run", consent=True).candidate


@pytest.mark.parametrize("digest", [None, B, ""])
def test_a_decision_about_other_bytes_opens_nothing(digest: Any) -> None:
    decision = allowed()._replace(digest=digest)

    with pytest.raises(IntegrityError, match="not what was decided about") as caught:
        usable("candidate", A, decision, "load")

    assert "see 'metier why pdf'" == caught.value.hint


def test_nobody_else_can_make_a_usable() -> None:
    made = usable("candidate", A, allowed(), "load")

    with pytest.raises(TypeError, match="only metier"):
        Usable(object(), "other", made.decision, "load")
    with pytest.raises(TypeError):
        type("Mine", (Usable,), {})
    with pytest.raises(TypeError):
        pickle.dumps(made)
    with pytest.raises(TypeError):
        copy.copy(made)
    with pytest.raises(AttributeError):
        made.candidate = "other"
    assert "candidate" == made.candidate
