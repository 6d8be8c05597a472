"""Runs `metier trust`, `metier waive` and `metier sign`: they show and make trust decisions, accept
findings, manage keys, and sign and verify skills.
"""

from __future__ import annotations

from metier.cli.argv import YES, CommandRow, Option, Values, cannot
from metier.cli.consent import require_yes
from metier.cli.main import library, opened
from metier.cli.output import answer, bold, clean, coloured, counted, lines, style, table
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.library import Library
    from metier.model import Texts
    from metier.trust.approve import TrustedSource, Verb
    from metier.trust.assess import Trusted
    from metier.trust.io.decisions_file import TrustRepair
    from metier.trust.waivers import GivenWaiver


NO_KEYS = "No keys yet.\n\nnext: metier trust keys new, metier trust keys import FILE\n"
NO_WAIVERS = "No finding is waived.\n\nnext: metier waive RULE NAME --reason TEXT\n"
NOTHING_TO_REPAIR = "Nothing to repair: your trust decisions are in order.\n"
RESTORED_FROM = {
    "record": "from the record itself: only its second copy is damaged",
    "copy": "from the second copy:",
    "log": "from the audit log:",
    "nothing": "from nothing: no copy and no audit log is left, so whatever you had blocked is unblocked",
}
MAX_NAMES_SHOWN = 20
"""How many names of a project's skills are printed."""
DECISIONS: dict[str, Verb] = {
    "show": "show",
    "quarantine": "quarantine",
    "block": "block",
    "unblock": "unblock",
}


def run(values: Values) -> int:
    """Show a decision or make one; trust a project; keep keys and signatures. Exit 1 where a
    manifest was only looked at and differs.
    """
    verb, *rest = values.words
    verbs = {
        "show": _decide,
        "approve": _approve,
        "quarantine": _decide,
        "block": _decide,
        "unblock": _decide,
        "project": _project,
        "own": _own,
        "source": _source,
        "manifest": _manifest,
        "repair": _repair,
        "keys": _keys,
        "sign": _sign,
        "verify": _verify,
    }
    if verb not in verbs:
        raise cannot("trust", verb, *verbs)
    if verb == "repair" and rest:
        raise UsageError(f"unexpected '{rest[0]}'", hint="write metier trust repair")
    if verb not in {"keys", "project", "source", "repair"} and len(rest) != 1:
        raise UsageError(
            f"metier trust {verb} needs {'one' if rest else 'a'} {_OPERANDS.get(verb, 'NAME')}",
            hint="see: metier trust --help",
        )
    for option, takers in _OPTIONS.items():
        if values.given(option) and verb not in takers:
            word = option.replace("_", "-")
            raise UsageError(
                f"metier trust {verb} takes no --{word}", hint=f"it goes with {', '.join(takers)}"
            )
    if verb not in _OPTIONS["dry_run"]:
        values.leave_out("dry_run")
    with opened(values) as m:
        return verbs[verb](m, values) or 0


_OPTIONS = {
    "reason": ("approve", "quarantine", "block", "unblock", "project", "own", "source"),
    "dry_run": ("repair",),
}
"""Options that some of the verbs would not heed."""
_OPERANDS = {"own": "PATH", "manifest": "DIR"}


def _approve(m: Library, values: Values) -> None:
    from metier.trust import approve

    accept = values.flag("accept_dangerous")
    level = values.text("level") or "verified"
    now = m.trust(values.words[1])
    expected = now.digest or ""
    if not accept and m.context.trust_policy.counted(now.verdict) == "dangerous":
        # which refuses it, and says why; there is nothing to ask
        approve.trust(m.context, now.path, "approve", expected=expected)
    require_yes(values, f"{_text(now)}\nApprove this version of {clean(now.name)} as {level}?")
    done = approve.trust(
        m.context,
        now.path,
        "approve",
        reason=values.text("reason"),
        accept_dangerous=accept,
        level="trusted" if level == "trusted" else "verified",
        expected=expected,
    )
    answer(values, done, _text)


def _decide(m: Library, values: Values) -> None:
    verb, name = values.words
    if verb == "unblock":
        require_yes(values, f"Unblock {clean(name)}? It will be quarantined.")
    found = m.trust(name, DECISIONS[verb], reason=values.text("reason"))
    answer(values, found, _text)


def _project(m: Library, values: Values) -> None:
    from metier.trust.approve import project_at

    folder, *rest = values.words[1:] or ["."]
    if rest:
        raise UsageError(f"unexpected '{rest[0]}'", hint="write metier trust project DIR")
    trusted = not values.flag("revoke")
    found = project_at(m.context, folder)
    count = counted(len(found.skills), "skill")
    if trusted and not found.trusted:
        unnamed = len(found.skills) - MAX_NAMES_SHOWN
        more = f"  and {unnamed:,} more\n" if unnamed > 0 else ""
        listed = lines(found.skills[:MAX_NAMES_SHOWN])
        require_yes(
            values, f"{clean(found.path)} brings {count}:\n{listed}{more}Offer them to models?"
        )
    path = m.trust_project(found.path, trusted=trusted, reason=values.text("reason"))
    said = f"now {style('trusted', 'green')}" if trusted else style("no longer trusted", "yellow")
    undo = " --revoke" if trusted else ""
    text = (
        f"{clean(path)} is {said}: {count}\nundo it with: metier trust project "
        f"{clean(path)}{undo}\n"
    )
    document = {"project": path, "trusted": trusted, "skills": found.skills}
    answer(values, document, text)


def _own(m: Library, values: Values) -> None:
    from metier.trust.approve import marked_place, own_place

    own = not values.flag("remove")
    path = (own_place if own else marked_place)(m.context, values.words[1])
    if own:
        require_yes(
            values,
            f"Is {clean(path)} your own work? Its scripts will run without asking, and edits to it "
            "stay trusted.",
        )
    m.trust_own(path, own=own, reason=values.text("reason"))
    said = style("your own", "green") if own else style("no longer marked as your own", "yellow")
    undo = f"undo it with: metier trust own {clean(path)} --remove\n" if own else ""
    answer(values, {"path": path, "own": own}, f"{clean(path)} is {said}\n{undo}")


def _manifest(m: Library, values: Values) -> int:
    found = m.trust_manifest(values.words[1])
    told = "".join(
        f"{what}:\n{lines(names)}"
        for what, names in (
            ("added", found.added),
            ("removed", found.removed),
            ("changed", found.changed),
        )
        if names
    )
    told = f"{found.problem}\n{told}" if found.problem else told
    path = clean(found.path)
    if found.ok:
        answer(values, found, f"{path} says what is there\n")
        return 0
    if values.flag("check"):
        answer(values, found, f"{path} is out of date\n{told}")
        return 1
    require_yes(
        values,
        f"{told}Write {path}? In your own folders, code that it names is loaded without the gate.",
    )
    found = m.trust_manifest(values.words[1], write=True, expected=found.sha256)
    answer(values, found, f"{path} is {style('written', 'green')}\n{told}")
    return 0


def _source(m: Library, values: Values) -> None:
    from metier.audit.redact import redact_text

    source, *rest = values.words[1:] or [""]
    if rest:
        raise UsageError(f"unexpected '{rest[0]}'", hint="write metier trust source OWNER/REPO")
    if not source and values.flag("remove"):
        raise UsageError(
            "metier trust source --remove needs a source",
            hint="write metier trust source OWNER/REPO --remove",
        )
    if source and not values.flag("remove"):
        require_yes(
            values,
            f"Trust everything from {clean(redact_text(source))}? Its skills run without asking unless a scan "
            "calls them dangerous.",
        )
    found = (
        m.trust_source(source, trusted=not values.flag("remove"), reason=values.text("reason"))
        if source
        else m.trusted_sources()
    )
    answer(values, found, _sources_text, {"sources": found})


def _sources_text(found: list[TrustedSource]) -> str:
    rows = [(one.source, clean(one.told_by) or "metier's own list") for one in found]
    return table(rows, ("SOURCE", "NAMED IN")) or "No source is trusted.\n"


def run_waive(values: Values) -> None:
    """Accept a rule's findings in one skill, take that back, or list what is accepted."""
    words = values.words
    removes = values.flag("remove")
    if len(words) == 1 or (removes and not words):
        raise UsageError("metier waive needs a RULE and a NAME", hint="see: metier waive --help")
    with opened(values) as m:
        if not words:
            found = m.waivers()
            answer(values, found, _waivers_text, {"waivers": found})
        elif removes:
            m.take_back_waiver(*words)
            said = f"{clean(words[0])} counts again in {clean(words[1])}\n"
            answer(values, {"rule": words[0], "name": words[1], "removed": True}, said)
        else:
            made = m.waive(*words, reason=values.text("reason"), until=values.text("until"))
            answer(values, made, _waiver_text(made, values.root_options()))


def _waiver_text(made: GivenWaiver, roots: str) -> str:
    return (
        f"{made.rule} no longer counts in {clean(made.name)}, until {made.expires}: "
        f"{clean(made.reason)}\nundo it with: metier waive {made.rule} {clean(made.name)} "
        f"--remove{clean(roots)}\n"
    )


def _waivers_text(found: list[GivenWaiver]) -> str:
    rows = [
        (
            one.rule or one.fingerprint,
            clean(one.name) or "any",
            one.expires,
            one.state,
            clean(one.reason),
        )
        for one in found
    ]
    return table(rows, ("RULE", "SKILL", "UNTIL", "STATE", "REASON")) or NO_WAIVERS


def _repair(m: Library, values: Values) -> None:
    found = m.repair_trust(dry_run=True)
    if found.damage and not values.flag("dry_run"):
        require_yes(values, f"{_repair_text(found)}Restore them?", "metier trust repair --dry-run")
        found = m.repair_trust(expected=found)
    answer(values, found, _repair_text)


def _repair_text(found: TrustRepair) -> str:
    if not found.damage:
        return NOTHING_TO_REPAIR
    parts = [
        _restored(f"{len(names):,} {what}", names)
        for what, names in (
            ("blocked", found.blocked),
            ("quarantined", found.quarantined),
            ("approved", found.approved),
            ("trusted as projects", found.projects),
            ("written by you", found.own),
        )
        if names
    ]
    verb = "restored" if found.repaired else "can be restored"
    head = f"{clean(found.damage)}\n{verb} {RESTORED_FROM[found.source]}\n"
    kept = [f"what was there is kept as {clean(path)}" for path in found.kept]
    return f"{head}{lines(parts)}{lines([*map(clean, found.notes), *kept], '')}"


def _restored(head: str, names: Texts) -> str:
    unnamed = len(names) - MAX_NAMES_SHOWN
    more = f", and {unnamed:,} more" if unnamed > 0 else ""
    return f"{head}: {', '.join(map(clean, names[:MAX_NAMES_SHOWN]))}{more}"


def _keys(m: Library, values: Values) -> None:
    from metier.trust import sign
    from metier.trust.io.key_files import list_keys

    rest = values.words[1:]
    what, *more = rest or ["list"]
    named = what in {"import", "remove"}
    if what not in {"list", "new", "import", "remove"} or len(more) != named:
        hint = "write metier trust keys list, new, import FILE or remove ID"
        raise cannot("trust keys", " ".join(rest), hint=hint)
    if what == "list":
        keys = list_keys(m.context.data)
        rows = [{"key": key, "private": private} for key, private in keys.items()]
        answer(values, keys, _keys_text, {"keys": rows})
        return
    if named:
        require_yes(
            values, f"{'Trust' if what == 'import' else 'Remove'} the key {clean(more[0])}?"
        )
    if what == "remove":
        key = sign.remove_key(m.context, more[0])
        path = ""
        said = f"{key} is no longer trusted\n"
    else:
        key, path = (
            sign.new_key(m.context) if what == "new" else sign.import_key(m.context, more[0])
        )
        said = f"{key} is trusted: {clean(path)}\n"
    answer(values, {"key": key, "path": path, "done": what}, said)


def _keys_text(keys: dict[str, bool]) -> str:
    rows = [(key, "signs and verifies" if private else "verifies") for key, private in keys.items()]
    return table(rows, ("KEY", "USE")) or NO_KEYS


def _sign(m: Library, values: Values) -> None:
    from metier.supply.apply import sign_skill

    signed, path = sign_skill(m.context, values.words[-1], values.text("key"))
    said = f"signed {clean(signed.name)}, {signed.digest}\nwith {signed.key}: {clean(path)}\n"
    answer(values, {**signed._asdict(), "path": path}, said)


def _verify(m: Library, values: Values) -> None:
    from metier.supply.apply import verify_skill

    signed = verify_skill(m.context, values.words[1], values.text("signature"))
    good = f"{style('good', 'green')}: {clean(signed.name)}, {signed.digest}"
    answer(values, signed, f"{good}\nsigned by {signed.key}\n")


def _text(found: Trusted) -> str:
    from metier.scan.report import place_of

    state = coloured(found.state)
    verdict = coloured(found.verdict)
    findings = (
        f"{f'{one.severity} {one.rule} {clean(place_of(one))}'.rstrip()}: {clean(one.why)}"
        for one in found.findings
    )
    return (
        f"{bold(found.name)} is {state}, level {found.level}, verdict {verdict}\n"
        f"  {clean(found.path)}\n  {found.digest or 'no digest: it cannot be read whole'}\n"
        f"{lines(found.reasons)}{lines(findings, '    ')}"
    )


def run_sign(values: Values) -> None:
    """Sign a skill's bytes; the same as `metier trust sign`."""
    with library(values) as m:
        _sign(m, values)


ROWS = (
    CommandRow(
        "trust",
        operands="show|approve|quarantine|block|unblock|project|own|source|manifest|repair|keys|sign|verify [NAME...]",
        options=(
            YES,
            Option("--reason", "why, for the audit log", "TEXT"),
            Option(
                "--accept-dangerous", "approve even what a scan calls dangerous; needs --reason"
            ),
            Option(
                "--level",
                "with approve: how far (default: verified)",
                "L",
                choices=("verified", "trusted"),
            ),
            Option("--revoke", "with project: stop offering its skills to models"),
            Option("--remove", "with own and source: take it back"),
            Option("--check", "with manifest: write nothing; exit 1 when it differs"),
            Option("--dry-run", "with repair: show what can be restored, and do nothing"),
            Option("--key", "with sign: the key to sign with, when there are several", "ID"),
            Option(
                "--signature",
                "with verify: check this signature, and keep it when it is good",
                "FILE",
            ),
        ),
        examples={
            "metier trust show pdf": "the decision on a skill, and its reasons",
            "metier trust approve pdf --reason 'read it'": "until a byte of it changes",
            "metier trust block pdf": "never load or run it, whatever its name or place",
            "metier trust project .": "offer this project's skills to models",
            "metier trust own ./my-skill": "you wrote it: your edits to it never ask again",
            "metier trust source our-company/skills": "whatever comes from there; alone it lists them",
            "metier trust manifest ./skills --check": "does the manifest of code skills still hold?",
            "metier trust repair": "restore damaged decisions; --dry-run only shows which",
            "metier trust keys list": "whose signatures count; also: new, import FILE, remove ID",
            "metier trust sign pdf": "vouch for it with your key; verify checks",
        },
        detail="Exit code 1 when the answer is no, as for a dangerous skill without "
        "--accept-dangerous.",
        run=run,
    ),
    CommandRow(
        "waive",
        operands="[RULE] [NAME]",
        options=(
            Option("--reason", "why the finding does no harm; kept with it", "TEXT"),
            Option("--until", "the last day it applies, YYYY-MM-DD (default: in 90 days)", "DATE"),
            Option("--remove", "let the rule's findings in this skill count again"),
        ),
        examples={
            "metier waive": "what is waived, by whose file, and whether it still applies",
            "metier waive SC201 pdf --reason 'our own installer'": "for 90 days",
            "metier waive SC201 pdf --reason 'our own installer' --until 2027-06-30": "until a day",
            "metier waive SC201 pdf --remove": "let it count again",
        },
        detail="It is written into your metier.toml, under [[trust.waivers]]. The skill is judged "
        "again as if the findings were not there.",
        run=run_waive,
    ),
    CommandRow(
        "sign",
        operands="NAME-or-PATH",
        options=(Option("--key", "the key to sign with", "ID"),),
        examples={
            "metier sign ./my-skill": "before you publish it; a skill that is listed goes by its name"
        },
        run=run_sign,
    ),
)
