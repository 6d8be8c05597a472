"""May a skill be used? One row for every branch of the decision."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from metier.errors import IntegrityError, RefusedError
from metier.model import Digest, Finding, Level, Phase, Trust, Verdict
from metier.trust.decide import Approval, Decision, Provenance, TrustPolicy, Usable, decide, usable
from metier.trust.model import SHIPPED_SOURCE
from metier.trust.policy import DEFAULT_TABLE
from metier.trust.sign import Signed

NOW = "2026-03-10T09:00:00Z"
A, B, C = Digest("sha256:aa"), Digest("sha256:bb"), Digest("sha256:cc")
FINDING = Finding("SC101", "high", "injection", "SKILL.md", 3, 1, "…", "why", "hint", "f1")


def scanned(level: Level = "safe", digest: Digest | None = A) -> Verdict:
    return Verdict(digest, "sha256:rules", level, 0, () if level == "safe" else (FINDING,))


def said(state: Any, digest: str = A, level: Trust = "community", **more: Any) -> Approval:
    return Approval(
        **{
            "name": "pdf",
            "digest": digest,
            "state": state,
            "level": level,
            "at": "2026-03-01T10:00:00Z",
            **more,
        }
    )


SAFE, CAUTION, DANGEROUS = scanned(), scanned("caution"), scanned("dangerous")
USER, EXTERNAL = Provenance(), Provenance(scope="external")
UNTRUSTED = Provenance(scope="project", project="/work/p")
PROJECT = Provenance(scope="project", project_trusted=True)
OWN, OWN_PROJECT = Provenance(own="place"), PROJECT._replace(own="project")
TRUSTED, BUILTIN = Provenance("anthropics/skills"), Provenance(SHIPPED_SOURCE, scope="package")
YES, NO, HELD = said("approved"), said("blocked"), said("quarantined")
ACCEPTED = said("approved", accept_dangerous=True, reason="read it all")
INSTALLED, EDITED = said("approved", B, installed=True), Provenance(edited_from=B)
GOOD_KEY = Signed("pdf", A, "ed25519:1")


class Row(NamedTuple):
    """One branch: what is known, and state, level and the actions of install, load and run that must follow."""

    case: str
    verdict: Verdict | None
    provenance: Provenance
    approvals: tuple[Approval, ...]
    expected: str
    policy: TrustPolicy = TrustPolicy()


ROWS = [
    # --- by level and verdict alone (MT-3, MT-4, MT-12)
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
    # --- nobody has scanned it (MT-29): it is listed, and used by nobody
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
    Row("external dangerous", DANGEROUS, EXTERNAL, (), "blocked community block block block"),
    Row("external is community whatever its source", SAFE, Provenance("anthropics/skills", scope="external"), (), "visible community allow allow ask"),
    Row("external is not builtin", SAFE, Provenance(SHIPPED_SOURCE, scope="external"), (), "visible community allow allow ask"),
    Row("external and blocked", SAFE, EXTERNAL, (NO,), "blocked blocked block block block"),
    Row("external and changed", SAFE, EXTERNAL, (said("approved", B),), "ask community ask ask ask"),
    # --- untrusted projects (MT-18)
    Row("untrusted project", SAFE, UNTRUSTED, (), "ask community ask ask ask"),
    Row("untrusted project, caution", CAUTION, UNTRUSTED, (), "ask community block ask ask"),
    Row("untrusted project, dangerous", DANGEROUS, UNTRUSTED, (), "blocked community block block block"),
    Row("untrusted project, not scanned", None, UNTRUSTED, (), "ask community block block block"),
    Row("an untrusted project's word about its source", SAFE, UNTRUSTED._replace(source="anthropics/skills"), (), "ask community ask ask ask"),
    Row("untrusted project, shipped by its own word", SAFE, UNTRUSTED._replace(source=SHIPPED_SOURCE), (), "ask community ask ask ask"),
    Row("untrusted project, these bytes approved", SAFE, UNTRUSTED, (YES,), "visible community allow allow allow"),
    Row("untrusted project, blocked", SAFE, UNTRUSTED, (NO,), "blocked blocked block block block"),
    Row("trusted project", SAFE, PROJECT, (), "visible community allow allow ask"),
    # --- the user's own: by what was said of the place, or in a trusted project that no lock has it of
    Row("own", SAFE, OWN, (), "visible own allow allow allow"),
    Row("own, caution", CAUTION, OWN, (), "visible own allow allow allow"),
    Row("own, dangerous", DANGEROUS, OWN, (), "blocked own block block block"),
    Row("own, dangerous and accepted", DANGEROUS, OWN, (ACCEPTED,), "visible own block warn warn"),
    Row("own, not scanned", None, OWN, (), "visible own block block block"),
    Row("own, in a trusted project", CAUTION, OWN_PROJECT, (), "visible own allow allow allow"),
    Row("own, in a project that nobody trusts", SAFE, UNTRUSTED._replace(own="place"), (), "visible own allow allow allow"),
    Row("own by a project that nobody trusts", SAFE, UNTRUSTED._replace(own="project"), (), "ask community ask ask ask"),
    Row("own by a project, and no project's root", SAFE, Provenance(own="project", project_trusted=True), (), "visible community allow allow ask"),
    Row("own by a project, though fetched from elsewhere", SAFE, OWN_PROJECT._replace(source="a/b"), (), "visible community allow allow ask"),
    Row("own by a project, though fetched from a trusted source", SAFE, OWN_PROJECT._replace(source="anthropics/skills"), (), "visible trusted allow allow allow"),
    Row("own, with bytes that were fetched once", SAFE, OWN._replace(source="a/b"), (), "visible own allow allow allow"),
    Row("own, from a pull request", SAFE, OWN._replace(source="anthropics/skills", ref="refs/pull/7/head"), (), "visible community allow allow ask"),
    Row("own, below a root given by hand", CAUTION, EXTERNAL._replace(own="place"), (), "visible own allow allow allow"),
    Row("own by a project, below a root given by hand", SAFE, EXTERNAL._replace(own="project", project_trusted=True), (), "visible community allow allow ask"),
    Row("own, not as pinned", SAFE, OWN._replace(pinned=B), (), "quarantined quarantined block warn block"),
    Row("own, approved", SAFE, OWN, (YES,), "visible own allow allow allow"),
    Row("own, blocked", SAFE, OWN, (NO,), "blocked blocked block block block"),
    Row("own, quarantined", SAFE, OWN, (HELD,), "quarantined quarantined block warn block"),
    Row("own, other bytes blocked", SAFE, OWN, (said("blocked", B),), "quarantined quarantined block ask block"),
    Row("own, these bytes blocked under another name", SAFE, OWN, (NO._replace(name="doc"),), "blocked blocked block block block"),
    Row("own, other bytes approved", SAFE, OWN, (said("approved", B),), "visible own allow allow allow"),
    Row("own, a signature does not lower", SAFE, OWN._replace(signature=GOOD_KEY), (), "visible own allow allow allow"),
    Row("own, whatever the local default", SAFE, OWN, (), "visible own allow allow allow", TrustPolicy(local_default="quarantined")),
    Row("own, local default blocked", SAFE, OWN, (), "blocked blocked block block block", TrustPolicy(local_default="blocked")),
    Row("own, strict", CAUTION, OWN, (), "blocked own block block block", TrustPolicy(preset="strict")),
    Row("own is not what an approval can say", CAUTION, USER, (said("approved", level="own"),), "visible trusted allow allow allow"),
    Row("own is not what a signature can say", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(level="own")), (), "visible verified allow warn ask"),
    # --- this version was spoken about (MT-13)
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
    Row("verified by a signature, caution: it asks", CAUTION, Provenance("a/b", signature=GOOD_KEY), (), "visible verified allow warn ask"),
    Row("verified by a signature, caution, approved: it asks no more", CAUTION, Provenance("a/b", signature=GOOD_KEY), (YES,), "visible verified allow allow allow"),
    Row("verified by an approval, caution", CAUTION, USER, (said("approved", level="verified"),), "visible verified allow allow allow"),
    Row("verified by a signature, caution, installed: running still asks", CAUTION, Provenance("a/b", signature=GOOD_KEY), (said("approved", installed=True),), "visible verified allow allow ask"),
    Row("verified by an approval of other bytes, caution", CAUTION, USER, (said("approved", B, "verified"),), "ask community block ask ask"),
    # --- dangerous, and accepted by name (MT-5)
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
    # --- an installed skill that was edited, and can do no more than before
    Row("edited", SAFE, EDITED, (INSTALLED,), "visible community allow allow ask"),
    Row("edited, in a project that nobody trusts", SAFE, UNTRUSTED._replace(edited_from=B), (INSTALLED,), "visible community allow allow ask"),
    Row("edited, below a root given by hand", SAFE, EXTERNAL._replace(edited_from=B), (INSTALLED,), "visible community allow allow ask"),
    Row("edited, not scanned", None, EDITED, (INSTALLED,), "visible community block block block"),
    Row("edited, caution", CAUTION, EDITED, (INSTALLED,), "ask community block ask ask"),
    Row("edited, caution that counts as safe", CAUTION, EDITED, (INSTALLED,), "ask community ask ask ask", TrustPolicy(preset="permissive")),
    Row("edited, dangerous", DANGEROUS, EDITED, (INSTALLED,), "blocked community block block block"),
    Row("edited, where settings ask", SAFE, EDITED, (INSTALLED,), "ask community ask ask ask", TrustPolicy(edits="ask")),
    Row("edited, not scanned, where settings ask", None, EDITED, (INSTALLED,), "ask community block block block", TrustPolicy(edits="ask")),
    Row("edited, and can do more or nobody knows", SAFE, USER, (INSTALLED,), "ask community ask ask ask"),
    Row("edited from other bytes than were installed", SAFE, USER._replace(edited_from=C), (INSTALLED,), "ask community ask ask ask"),
    Row("edited from bytes that were approved by hand", SAFE, EDITED, (said("approved", B),), "ask community ask ask ask"),
    Row("edited, other bytes of the name approved since", SAFE, EDITED, (INSTALLED, said("approved", C)), "visible community allow allow ask"),
    Row("edited, and the installed bytes blocked since", SAFE, EDITED, (INSTALLED, said("blocked", B)), "quarantined quarantined block ask block"),
    Row("edited, and other bytes of the name blocked", SAFE, EDITED, (said("blocked", C), INSTALLED), "quarantined quarantined block ask block"),
    Row("edited, and other bytes of the name quarantined", SAFE, EDITED, (INSTALLED, said("quarantined", C)), "quarantined quarantined block warn block"),
    Row("edited, these bytes blocked", SAFE, EDITED, (INSTALLED, NO), "blocked blocked block block block"),
    Row("edited, these bytes blocked under another name", SAFE, EDITED, (INSTALLED, NO._replace(name="doc")), "blocked blocked block block block"),
    Row("edited, these bytes approved", SAFE, EDITED, (INSTALLED, YES), "visible community allow allow allow"),
    Row("edited, and its danger was accepted before", SAFE, EDITED, (INSTALLED._replace(accept_dangerous=True),), "visible community allow allow ask"),
    Row("edited, installed under another name", SAFE, EDITED, (INSTALLED._replace(name="doc"),), "visible community allow allow ask"),
    Row("edited, in a project, installed under another name", SAFE, UNTRUSTED._replace(edited_from=B), (INSTALLED._replace(name="doc"),), "ask community ask ask ask"),
    Row("edited, not as pinned", SAFE, EDITED._replace(pinned=B), (INSTALLED,), "quarantined quarantined block warn block"),
    # --- what metier's lock has for the place
    Row("edited since the lock", SAFE, USER._replace(changed="harmless"), (), "visible community allow allow ask"),
    Row("edited since the lock, in a trusted project", SAFE, UNTRUSTED._replace(project_trusted=True, changed="harmless"), (), "visible community allow allow ask"),
    Row("edited since the lock, in a project that nobody trusts", SAFE, UNTRUSTED._replace(changed="harmless"), (), "ask community ask ask ask"),
    Row("edited since the lock, not scanned", None, USER._replace(changed="harmless"), (), "visible community block block block"),
    Row("edited since the lock, caution", CAUTION, USER._replace(changed="harmless"), (), "ask community block ask ask"),
    Row("edited since the lock, dangerous", DANGEROUS, USER._replace(changed="harmless"), (), "blocked community block block block"),
    Row("edited since the lock, where settings ask", SAFE, USER._replace(changed="harmless"), (), "ask community ask ask ask", TrustPolicy(edits="ask")),
    Row("edited since the lock, and can do more", SAFE, USER._replace(changed="more"), (), "ask community ask ask ask"),
    Row("edited since the lock, and can do more, in a trusted project", SAFE, UNTRUSTED._replace(project_trusted=True, changed="more"), (), "ask community ask ask ask"),
    Row("edited since the lock, these bytes approved", SAFE, USER._replace(changed="more"), (YES,), "visible community allow allow allow"),
    Row("edited since the lock, blocked before", SAFE, USER._replace(changed="harmless"), (said("blocked", B),), "quarantined quarantined block ask block"),
    Row("edited since the lock, the user's own", SAFE, USER._replace(changed="more", own="place"), (), "visible own allow allow allow"),
    Row("a lock that cannot be read", SAFE, USER._replace(changed="unknown"), (), "ask community ask ask ask"),
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
    Row("other bytes blocked under a name that looks alike", SAFE, USER, (said("blocked", B, name="\u0440df"),), "quarantined quarantined block ask block"),
    Row("other bytes quarantined under a name that looks alike", SAFE, USER, (said("quarantined", B, name="p\u200bdf"),), "quarantined quarantined block warn block"),
    Row("a name that looks blocked, these bytes approved", SAFE, USER, (said("blocked", B, name="\u0440df"), YES), "visible community allow allow allow"),
    Row("a name that looks blocked, of the user's own", SAFE, OWN, (said("blocked", B, name="_PDF"),), "quarantined quarantined block ask block"),
    Row("other bytes approved under a name that looks alike", SAFE, USER, (said("approved", B, name="\u0440df"),), "visible community allow allow ask"),
    Row("other bytes approved under another spelling", SAFE, USER, (said("approved", B, name="PDF"),), "visible community allow allow ask"),
    # --- hash mismatch (ZE-24)
    Row("as pinned", SAFE, TRUSTED._replace(pinned=A), (), "visible trusted allow allow allow"),
    Row("not as pinned", SAFE, TRUSTED._replace(pinned=B), (), "quarantined quarantined block warn block"),
    Row("not as pinned, approved", SAFE, TRUSTED._replace(pinned=B), (YES,), "visible community allow allow allow"),
    Row("not as pinned, shipped", SAFE, BUILTIN._replace(pinned=B), (), "quarantined quarantined block warn block"),
    Row("not as pinned, by policy blocked", SAFE, TRUSTED._replace(pinned=B), (YES,), "blocked blocked block block block", TrustPolicy(hash_mismatch_level="blocked")),
    Row("not as pinned, by policy community", SAFE, TRUSTED._replace(pinned=B), (), "visible community allow allow ask", TrustPolicy(hash_mismatch_level="community")),
    # --- signatures
    Row("signed", CAUTION, Provenance("a/b", signature=GOOD_KEY), (), "visible verified allow warn ask"),
    Row("signed for other bytes", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(digest=B)), (), "visible community block warn ask"),
    Row("signed for another name", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(name="doc")), (), "visible community block warn ask"),
    Row("signed as trusted is verified", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(level="trusted")), (), "visible verified allow warn ask"),
    Row("signed as community", CAUTION, Provenance("a/b", signature=GOOD_KEY._replace(level="community")), (), "visible community block warn ask"),
    Row("a signature does not lower", CAUTION, TRUSTED._replace(signature=GOOD_KEY), (), "visible trusted allow allow allow"),
    Row("a signature does not lift quarantine", SAFE, Provenance(signature=GOOD_KEY), (), "quarantined quarantined block warn block", TrustPolicy(local_default="quarantined")),
    Row("a signature does not undo a mismatch", SAFE, Provenance("a/b", signature=GOOD_KEY, pinned=B), (), "quarantined quarantined block warn block"),
    # --- what configuration says, as in MT-12
    Row("local default trusted", CAUTION, USER, (), "visible trusted allow allow allow", TrustPolicy(local_default="trusted")),
    Row("local default trusted, trusted project", SAFE, PROJECT, (), "visible trusted allow allow allow", TrustPolicy(local_default="trusted")),
    Row("local default trusted, system", SAFE, Provenance(scope="system"), (), "visible trusted allow allow allow", TrustPolicy(local_default="trusted")),
    Row("local default trusted, admin", SAFE, Provenance(scope="admin"), (), "visible trusted allow allow allow", TrustPolicy(local_default="trusted")),
    Row("local default trusted, untrusted project", SAFE, UNTRUSTED, (), "ask community ask ask ask", TrustPolicy(local_default="trusted")),
    Row("local default trusted, external", SAFE, EXTERNAL, (), "visible community allow allow ask", TrustPolicy(local_default="trusted")),
    Row("local default trusted, a plugin", SAFE, Provenance(scope="plugin"), (), "visible community allow allow ask", TrustPolicy(local_default="trusted")),
    Row("local default quarantined", SAFE, USER, (), "quarantined quarantined block warn block", TrustPolicy(local_default="quarantined")),
    Row("local default quarantined, external", SAFE, EXTERNAL, (), "quarantined quarantined block warn block", TrustPolicy(local_default="quarantined")),
    Row("local default quarantined, approved", SAFE, USER, (YES,), "visible community allow allow allow", TrustPolicy(local_default="quarantined")),
    Row("local default blocked", SAFE, USER, (YES,), "blocked blocked block block block", TrustPolicy(local_default="blocked")),
    Row("local default blocked, trusted source", SAFE, TRUSTED, (), "visible trusted allow allow allow", TrustPolicy(local_default="blocked")),
    Row("a source that configuration trusts", SAFE, Provenance("a/b"), (), "visible trusted allow allow allow", TrustPolicy(trusted_sources=("a/b",))),
    Row("a source that configuration trusts no longer", SAFE, TRUSTED, (), "visible community allow allow ask", TrustPolicy(trusted_sources=("a/b",))),
    Row("strict", CAUTION, USER, (), "blocked community block block block", TrustPolicy(preset="strict")),
    Row("strict, approved", CAUTION, USER, (YES,), "blocked community block block block", TrustPolicy(preset="strict")),
    Row("strict, accepted", CAUTION, USER, (ACCEPTED,), "visible community block warn warn", TrustPolicy(preset="strict")),
    Row("permissive", CAUTION, USER, (), "visible community allow allow ask", TrustPolicy(preset="permissive")),
    Row("permissive, dangerous", DANGEROUS, USER, (), "blocked community block block block", TrustPolicy(preset="permissive")),
    Row("load blocked by table", CAUTION, USER, (), "blocked community block block block", TrustPolicy(DEFAULT_TABLE.with_cell("community", "caution", "load", "block"))),
    Row("load blocked by table, approved", CAUTION, USER, (YES,), "blocked community block block block", TrustPolicy(DEFAULT_TABLE.with_cell("community", "caution", "load", "block"))),
    Row("load asked by table", SAFE, USER, (), "ask community ask ask ask", TrustPolicy(DEFAULT_TABLE.with_cell("community", "safe", "load", "ask"))),
    Row("load asked by table, external", SAFE, EXTERNAL, (), "visible community allow ask ask", TrustPolicy(DEFAULT_TABLE.with_cell("community", "safe", "load", "ask"))),
    Row("load asked by table, quarantined", SAFE, USER, (HELD,), "quarantined quarantined block ask block", TrustPolicy(DEFAULT_TABLE.with_cell("quarantined", "safe", "load", "ask"))),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=[row.case for row in ROWS])
def test_every_branch_of_the_decision(row: Row) -> None:
    found = decide(
        row.verdict, row.provenance, row.policy, row.approvals, NOW, name="pdf", digest=A
    )

    assert row.expected == f"{found.state} {found.level} {found.install} {found.load} {found.run}"
    assert found.reasons
    assert ("pdf", A) == (found.name, found.digest)


def test_the_digest_is_the_verdict_s_unless_one_is_given() -> None:
    found = decide(SAFE, USER, TrustPolicy(), (YES,), NOW, name="pdf")

    assert (A, "allow") == (found.digest, found.run)


@pytest.mark.parametrize("level", ["builtin", "own", "trusted", "verified", "community"])
@pytest.mark.parametrize("verdict", [SAFE, CAUTION])
@pytest.mark.parametrize("asks", ["warn", "ask"])
def test_what_the_table_asks_holds_until_these_exact_bytes_are_approved(
    level: Trust, verdict: Verdict, asks: Any
) -> None:  # docs/explanation/trust.md, "The table"
    table = DEFAULT_TABLE
    for phase in ("load", "run"):
        table = table.with_cell(level, verdict.level, phase, asks)
    policy = TrustPolicy(table, trusted_sources=("t/t",))
    where = {
        "builtin": BUILTIN,
        "own": OWN,
        "trusted": Provenance("t/t"),
        "verified": Provenance("a/b", signature=GOOD_KEY),
        "community": USER,
    }[level]

    def run(*records: Approval) -> tuple[str, str]:
        found = decide(verdict, where, policy, records, NOW, name="pdf", digest=A)
        return found.load, found.run

    assert (asks, asks) == run()
    assert ("allow", "allow") == run(YES)
    assert ("allow", asks) == run(said("approved", installed=True))
    assert "allow" not in run(said("approved", B))


def test_an_edit_that_cannot_be_read_whole_asks() -> None:
    found = [
        decide(verdict, EDITED, TrustPolicy(), (INSTALLED,), NOW, name="pdf")
        for verdict in (None, scanned(digest=None))
    ]

    assert ["ask", "ask"] == [one.state for one in found]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (said("blocked", B, name="\u0440df"), "its name looks like '\u0440df', which you blocked"),
        (said("quarantined", B, name="PDF"), "its name looks like 'PDF', which you quarantined"),
    ],
)
def test_a_name_that_looks_like_a_blocked_one_says_which(record: Approval, expected: str) -> None:
    assert f"{expected}; it stays quarantined until you approve this version" in reasons_of(
        SAFE, USER, record
    )


def test_an_edit_says_when_it_was_installed() -> None:
    assert (
        "level community: unknown source",
        "edited after it was installed on 2026-03-01",
        "run: ask",
    ) == reasons_of(SAFE, EDITED, INSTALLED)


def test_without_a_digest_a_block_of_the_name_holds_and_any_other_record_counts_as_one_about_other_bytes() -> (
    None
):
    found = [
        decide(None, USER, TrustPolicy(), (record,), NOW, name="pdf").state
        for record in (YES, HELD, NO)
    ]

    assert ["ask", "quarantined", "blocked"] == found


@pytest.mark.parametrize(
    ("provenance", "expected"),
    [
        (USER, "ask community ask ask ask"),
        (TRUSTED, "ask trusted ask ask ask"),
        (BUILTIN, "ask builtin ask ask ask"),
        (EXTERNAL, "ask community ask ask ask"),
    ],
)
def test_what_cannot_be_read_whole_is_asked_for_whoever_it_comes_from(
    provenance: Provenance, expected: str
) -> None:
    found = decide(scanned(digest=None), provenance, TrustPolicy(), (), NOW, name="pdf")

    assert expected == f"{found.state} {found.level} {found.install} {found.load} {found.run}"
    assert "some of its files can't be read, so it can't be verified" in found.reasons
    assert found.digest is None


def reasons_of(
    verdict: Verdict | None,
    provenance: Provenance,
    *approvals: Approval,
    policy: TrustPolicy = TrustPolicy(),  # noqa: B008 - a value
) -> tuple[str, ...]:
    return decide(verdict, provenance, policy, approvals, NOW, name="pdf", digest=A).reasons


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: reasons_of(SAFE, USER), ("level community: unknown source", "run: ask")),
        (
            lambda: reasons_of(SAFE, EXTERNAL),
            ("level community: its root was named by hand", "run: ask"),
        ),
        (lambda: reasons_of(SAFE, BUILTIN), ("level builtin: it comes with metier",)),
        (lambda: reasons_of(SAFE, TRUSTED), ("level trusted: it comes from anthropics/skills",)),
        (
            lambda: reasons_of(SAFE, TRUSTED._replace(ref="pull/7")),
            ("level community: it comes from anthropics/skills, from a pull request", "run: ask"),
        ),
        (
            lambda: reasons_of(None, USER),
            (
                "level community: unknown source",
                "not scanned yet; metier scans a skill before it installs, loads or runs it",
            ),
        ),
        (lambda: reasons_of(None, BUILTIN), ("level builtin: it comes with metier",)),
        (
            lambda: reasons_of(CAUTION, USER),
            (
                "level community: unknown source",
                "the scan says caution: why (SKILL.md:3)",
                "install: block",
                "run: ask",
                "load: warn",
            ),
        ),
        (
            lambda: reasons_of(CAUTION, TRUSTED, policy=TrustPolicy(preset="strict"))[1:],
            (
                "the scan says caution: why (SKILL.md:3); the preset 'strict' counts it as dangerous",
                "install and load and run: block",
            ),
        ),
        (
            lambda: reasons_of(DANGEROUS._replace(findings=(FINDING, FINDING)), TRUSTED)[1],
            "the scan says dangerous: why (SKILL.md:3)",
        ),
        (
            lambda: reasons_of(DANGEROUS._replace(findings=()), TRUSTED)[1],
            "the scan says dangerous",
        ),
        (
            lambda: reasons_of(DANGEROUS, USER, ACCEPTED._replace(by="kim"))[1:],
            (
                "this version was approved on 2026-03-01 by kim: read it all",
                "the scan says dangerous: why (SKILL.md:3)",
                "you accepted the risk of this version, for load and run",
                "install: block",
                "load and run: warn",
            ),
        ),
        (
            lambda: reasons_of(SAFE, USER, said("approved", B))[1],
            "changed since it was approved on 2026-03-01. Review it, then run: metier trust approve pdf",
        ),
        (
            lambda: reasons_of(SAFE, USER, said("blocked", B))[1],
            "changed since it was blocked on 2026-03-01; it stays quarantined until you approve this version",
        ),
        (
            lambda: reasons_of(SAFE, USER, said("blocked", B, at="2026-02-01"), said("blocked", C))[
                1
            ],
            "changed since it was blocked on 2026-03-01; it stays quarantined until you approve this version",
        ),
        (
            lambda: reasons_of(
                SAFE, USER, said("blocked", C), said("quarantined", B, at="2026-03-02")
            )[1],
            "changed since it was blocked on 2026-03-01; it stays quarantined until you approve this version",
        ),
        (
            lambda: reasons_of(
                SAFE, USER, said("aproved", B, at="2026-02-01"), said("quarantined", C)
            )[1],
            "changed since it was aproved on 2026-02-01; it stays quarantined until you approve this version",
        ),
        (
            lambda: reasons_of(SAFE, USER, said("aproved", B, at="2026-02-01"), said("blocked", C))[
                1
            ],
            "changed since it was blocked on 2026-03-01; it stays quarantined until you approve this version",
        ),
        (
            lambda: reasons_of(SAFE, USER, NO._replace(name="doc"))[1],
            "this version, as 'doc', were blocked on 2026-03-01",
        ),
        (
            lambda: reasons_of(SAFE, UNTRUSTED)[1],
            "you haven't trusted this project yet. Review it, then run: metier trust project /work/p",
        ),
        (
            lambda: reasons_of(SAFE, UNTRUSTED._replace(project=""))[1],
            "you haven't trusted this project yet. Review it, then run: metier trust project DIR",
        ),
        (
            lambda: reasons_of(SAFE, Provenance("a/b", signature=GOOD_KEY))[1],
            "level verified: signed by the trusted key ed25519:1",
        ),
        (
            lambda: reasons_of(SAFE, TRUSTED._replace(pinned=B))[1],
            "level quarantined: its content doesn't match its lock or manifest",
        ),
    ],
)
def test_a_decision_says_why(found: Callable[[], object], expected: object) -> None:
    assert expected == found()


# --- Usable: what consumers accept


def allowed(**actions: Any) -> Decision:
    return decide(SAFE, TRUSTED, TrustPolicy(), (), NOW, name="pdf")._replace(**actions)


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
    assert (
        f"'pdf' can't be used ({phase}): level trusted: it comes from anthropics/skills"
        == caught.value.message
    )
    assert "see why: metier why pdf" == caught.value.hint


def test_a_question_needs_a_person_s_yes() -> None:
    decision = allowed(run="ask")

    with pytest.raises(RefusedError) as caught:
        usable("candidate", A, decision, "run")

    assert "ask" == caught.value.code
    assert (
        "'pdf' needs your approval (run): level trusted: it comes from anthropics/skills"
        == caught.value.message
    )
    assert "metier trust approve pdf" in caught.value.hint
    assert "candidate" == usable("candidate", A, decision, "run", consent=True).candidate


@pytest.mark.parametrize("digest", [None, B, ""])
def test_a_decision_about_other_bytes_opens_nothing(digest: Any) -> None:
    decision = allowed()._replace(digest=digest)

    with pytest.raises(IntegrityError, match="changed after it was checked") as caught:
        usable("candidate", A, decision, "load")

    assert "see why: metier why pdf" == caught.value.hint


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
