"""`metier trust`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import cli
from metier.cli import output
from metier.cli.consent import agreed
from metier.errors import UsageError

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.vetting import Trusted, Verb

_KEYS = "list, new, import FILE or remove ID"
NO_KEYS = "No keys yet.\n\nnext: metier trust keys new, metier trust keys import FILE\n"
SHOWN = 20
"""How many names of a project's skills are printed."""


def run(values: Values) -> int:
    """Show a decision or make one; trust a project; keep keys and signatures."""
    operands = values["operands"]
    assert isinstance(operands, list)
    verb, *rest = operands
    verbs = {"show": _show, "approve": _approve, "quarantine": _decide, "block": _decide, "unblock": _unblock,
             "project": _project, "keys": _keys, "sign": _sign, "verify": _verify}  # fmt: skip
    if verb not in verbs:
        raise UsageError(f"metier trust cannot '{verb}'", hint=f"it can: {', '.join(verbs)}")
    if verb not in {"keys", "project"} and len(rest) != 1:
        raise UsageError(f"metier trust {verb} needs {'one NAME' if rest else 'a NAME'}", hint="see: metier trust --help")
    library = cli.library(values)
    try:
        with library as m:
            verbs[verb](m, values, verb, rest)
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    return 0


def _show(m: Library, values: Values, _verb: str, rest: list[str]) -> None:
    _print(m.trust(rest[0]), values)


def _approve(m: Library, values: Values, _verb: str, rest: list[str]) -> None:
    from metier import vetting

    name, accept = rest[0], bool(values["accept_dangerous"])
    reason, level = cli.text_of(values["reason"]) or "", cli.text_of(values["level"]) or "verified"
    now = m.trust(name)
    if not accept and m.trust_policy.counted(now.verdict) == "dangerous":
        vetting.trust(m, now.path, "approve", expected=now.digest or "")  # which refuses it, and says why; there is nothing to ask
    agreed(values, f"{_text(now)}\nApprove these bytes of {output.clean(now.name)} as {level}?")
    known = next(known for known in ("verified", "trusted") if known == level)
    done = vetting.trust(m, now.path, "approve", reason=reason, accept_dangerous=accept, level=known, expected=now.digest or "")
    _print(done, values)


def _unblock(m: Library, values: Values, verb: str, rest: list[str]) -> None:
    agreed(values, f"Unblock {output.clean(rest[0])}? It will be quarantined.")
    _decide(m, values, verb, rest)


def _decide(m: Library, values: Values, verb: str, rest: list[str]) -> None:
    action: Verb = "quarantine" if verb == "quarantine" else "block" if verb == "block" else "unblock"
    _print(m.trust(rest[0], action, reason=cli.text_of(values["reason"]) or ""), values)


def _project(m: Library, values: Values, _verb: str, rest: list[str]) -> None:
    from metier.vetting.people import project_at

    if len(rest) > 1:
        raise UsageError(f"unexpected '{rest[1]}'", hint="write metier trust project DIR")
    trusted = not values["revoke"]
    found = project_at(m, rest[0] if rest else ".")
    count = "1 skill" if len(found.skills) == 1 else f"{len(found.skills):,} skills"
    if trusted and not found.trusted:
        listed = "".join(f"  {output.clean(name)}\n" for name in found.skills[:SHOWN])
        more = f"  and {len(found.skills) - SHOWN:,} more\n" if len(found.skills) > SHOWN else ""
        agreed(values, f"{output.clean(found.path)} brings {count}:\n{listed}{more}Offer them to models?")
    path = m.trust_project(found.path, trusted=trusted)
    if values["json"]:
        output.write(output.json_text({"project": path, "trusted": trusted, "skills": found.skills}) + "\n")
        return
    said = output.style("trusted", "green") if trusted else output.style("not trusted", "yellow")
    output.write(f"{output.clean(path)} is now {said}: {count}\n")
    undo = " --revoke" if trusted else ""
    output.write(f"undo it with: metier trust project {output.clean(path)}{undo}\n")


def _keys(m: Library, values: Values, _verb: str, rest: list[str]) -> None:
    from metier.vetting import signing

    what, *more = rest or ["list"]
    if what not in {"list", "new", "import", "remove"} or len(more) != (what in {"import", "remove"}):
        raise UsageError(f"metier trust keys cannot '{' '.join(rest)}'", hint=f"write metier trust keys {_KEYS}")
    if what == "list":
        _list_keys(signing.keys(m), values)
        return
    if what in {"import", "remove"}:
        agreed(values, f"{'Trust' if what == 'import' else 'Remove'} the key {output.clean(more[0])}?")
    key, path = signing.new_key(m) if what == "new" else signing.import_key(m, more[0]) if what == "import" else ("", "")
    if what == "remove":
        key = signing.remove_key(m, more[0])
    if values["json"]:
        output.write(output.json_text({"key": key, "path": path, "done": what}) + "\n")
    elif what == "remove":
        output.write(f"{key} is no longer trusted\n")
    else:
        output.write(f"{key} is trusted: {output.clean(path)}\n")


def _list_keys(keys: dict[str, bool], values: Values) -> None:
    if values["json"]:
        output.write(output.json_text({"keys": [{"key": key, "private": private} for key, private in keys.items()]}) + "\n")
        return
    rows = [(key, "signs and verifies" if private else "verifies") for key, private in keys.items()]
    output.write(output.table(rows, ("KEY", "USE")) or NO_KEYS)


def _sign(m: Library, values: Values, _verb: str, rest: list[str]) -> None:
    from metier.vetting.signing import sign_skill

    signed, path = sign_skill(m, rest[0], cli.text_of(values["key"]) or "")
    if values["json"]:
        output.write(output.json_text({**signed._asdict(), "path": path}) + "\n")
    else:
        output.write(f"signed {output.clean(signed.name)}, {signed.digest}\nwith {signed.key}: {output.clean(path)}\n")


def _verify(m: Library, values: Values, _verb: str, rest: list[str]) -> None:
    from metier.vetting.signing import verify_skill

    signed = verify_skill(m, rest[0], cli.text_of(values["signature"]) or "")
    if values["json"]:
        output.write(output.json_text(signed) + "\n")
    else:
        output.write(f"{output.style('good', 'green')}: {output.clean(signed.name)}, {signed.digest}\nsigned by {signed.key}\n")


def _print(found: Trusted, values: Values) -> None:
    output.write(output.json_text(found) + "\n" if values["json"] else _text(found))


def _text(found: Trusted) -> str:
    clean = output.clean
    state = output.style(found.state, output.STATE_STYLES[found.state])
    verdict = output.style(found.verdict, output.LEVEL_STYLES[found.verdict])
    out = [f"{output.style(clean(found.name), 'bold')} is {state}, level {found.level}, verdict {verdict}\n"]
    out.append(f"  {clean(found.path)}\n  {found.digest or 'no digest: it cannot be read whole'}\n")
    out += [f"  {clean(reason)}\n" for reason in found.reasons]
    out += [f"    {one.severity} {one.rule} {clean(one.path)}:{one.line}: {clean(one.why)}\n" for one in found.findings]
    return "".join(out)
