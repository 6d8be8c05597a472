"""`metier plugin`."""

from __future__ import annotations

from metier import cli
from metier.cli import mirrored, output, plans, supplied
from metier.cli.consent import Consent, agreed
from metier.errors import NotFoundError, UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.mirrors import Listed, Mirrored

    Verb = Callable[[Library, Values, list[str]], int]

TAKES = {"ref": ("enable",), "plugin": ("enable",), "to": ("enable",), "dry_run": ("enable",),
         "no_wait": ("enable", "disable", "pause", "resume", "adopt", "sync")}  # fmt: skip
"""Which verbs an option is for; --yes is taken by all, as scripts give it."""
NEEDS = {"enable": ("ID-or-PATH",), "disable": ("ID",), "pause": ("ID",), "resume": ("ID",), "adopt": ("ID", "SKILL")}
"""What must follow a verb, and nothing else; the others take any number of ids."""


def run(values: Values) -> int:
    """List plugins, or change what is mirrored of one; exit 1 when something is refused or cannot be reached."""
    verb, *rest = supplied.words(values)
    verbs: dict[str, Verb] = {"list": _list, "enable": _enable, "disable": _disable, "pause": _pause, "resume": _resume,
                              "adopt": _adopt, "sync": _sync}  # fmt: skip
    if verb not in verbs:
        raise UsageError(f"metier plugin cannot '{verb[:40]}'", hint=f"it can: {', '.join(verbs)}")
    needs = NEEDS.get(verb)
    if needs is not None and len(rest) != len(needs):
        raise UsageError(f"metier plugin {verb} needs {' and '.join(needs)}", hint="see: metier plugin --help")
    supplied.fits(values, f"plugin {verb}", verb, TAKES)
    supplied.users(values)
    with supplied.opened(values) as m:
        return verbs[verb](m, values, rest)


def _list(m: Library, values: Values, rest: list[str]) -> int:
    found = m.plugins(user=supplied.users(values))
    rest = [_whole(found.plugins, said) for said in rest]
    unknown = [ident for ident in rest if all(one.plugin_id != ident for one in found.plugins)]
    if unknown:
        raise NotFoundError(f"Unknown plugin: {unknown[0]}", hint="'metier plugin list' shows all")
    if rest:
        found = found._replace(plugins=tuple(one for one in found.plugins if one.plugin_id in rest))
    if values["json"]:
        output.write(output.json_text(found) + "\n")
    else:
        output.write(mirrored.each(found) if rest else mirrored.table(found))
    return 0


def _enable(m: Library, values: Values, rest: list[str]) -> int:
    to, text = values["to"], cli.text_of
    assert isinstance(to, list)
    consent = Consent(values, "Mirror")
    found = m.plugin_enable(
        rest[0], name=text(values["plugin"]) or "", ref=text(values["ref"]) or "", to=to, user=bool(values["user"]),
        dry_run=bool(values["dry_run"]), consent=consent, blocking=not values["no_wait"],
    )  # fmt: skip
    dry = bool(values["dry_run"])
    try:
        if not dry:
            consent.settle()
    except UsageError:
        if not values["json"]:  # a no is the last word, and what was refused is said all the same
            output.write("".join(plans.refusal_lines(found.refused)))
        raise
    if values["json"]:
        output.write(output.json_text(found) + "\n")
    else:
        output.write(mirrored.enabled(m, found, dry=dry, shown=consent.shown))
    return 1 if found.refused or found.unreachable else 0


def _disable(m: Library, values: Values, rest: list[str]) -> int:
    """Ask, saying what agents will no longer see; the library asks for the same yes by its own name."""
    user = supplied.users(values)
    known = _mirrored(m, user)
    ident = _whole(known, rest[0])
    now = next((one for one in known if one.plugin_id == ident), None)
    if now is not None and now.status not in {"disabled", "adopted"}:
        names = "".join(f"  {output.clean(name)}\n" for name in now.skills)
        agreed(values, f"Agents will no longer see these skills; their versions and your edits are kept:\n{names}"
                       f"Disable {output.clean(ident)}?")  # fmt: skip
    found = m.plugin_disable(ident, disable_linked_skills=True, user=user, blocking=not values["no_wait"])
    return _said(found, values, "disabled", ident, undo="enable")


def _pause(m: Library, values: Values, rest: list[str]) -> int:
    found, ident = _meant(m, values, rest[0], m.plugin_pause)
    return _said(found, values, "paused", ident, undo="resume")


def _resume(m: Library, values: Values, rest: list[str]) -> int:
    found, ident = _meant(m, values, rest[0], m.plugin_resume)
    code = _said(found, values, "resumed", ident)
    if not values["json"]:
        output.write(mirrored.looked_at(m, found))
    return code


def _adopt(m: Library, values: Values, rest: list[str]) -> int:
    skill = rest[1]
    found, ident = _meant(m, values, rest[0], lambda ident, **more: m.plugin_adopt(ident, skill, **more))
    if values["json"]:
        output.write(output.json_text(found) + "\n")
        return 0
    name = output.style(output.clean(skill), "bold")
    output.write(f"{name} is yours now: {output.clean(ident)} no longer changes it\n{mirrored.notes(found)}")
    output.write(f"\nnext: metier history {plans.named(skill)} has its versions\n")
    return 0


def _sync(m: Library, values: Values, rest: list[str]) -> int:
    user, blocking = supplied.users(values), not values["no_wait"]
    try:
        found = m.plugin_sync(rest, user=user, blocking=blocking)
    except NotFoundError:
        found = m.plugin_sync([_whole(_mirrored(m, user), said) for said in rest], user=user, blocking=blocking)
    output.write(output.json_text(found) + "\n" if values["json"] else mirrored.looked_at(m, found))
    return 1 if found.unreachable else 0


def _meant(m: Library, values: Values, said: str, verb: Callable[..., Mirrored]) -> tuple[Mirrored, str]:
    """Do something about the plugin that somebody means, and give its id; only where nobody knows it are all looked through."""
    user, blocking = supplied.users(values), not values["no_wait"]
    try:
        return verb(said, user=user, blocking=blocking), said
    except NotFoundError:
        ident = _whole(_mirrored(m, user), said)
        if ident == said:
            raise
        return verb(ident, user=user, blocking=blocking), ident


def _mirrored(m: Library, user: bool | None) -> list[Listed]:  # noqa: FBT001 - whose
    return [one for one in m.plugins(user=user).plugins if one.scope]


def _whole(known: Sequence[Listed], said: str) -> str:
    """Give the id that somebody means; a marketplace's name may be left out where one plugin fits."""
    ids = {one.plugin_id for one in known}
    fitting = [ident for ident in ids if ident.partition("@")[0] == said]
    return fitting[0] if said not in ids and len(fitting) == 1 else said


def _said(found: Mirrored, values: Values, word: str, said: str, undo: str = "") -> int:
    """Report one plugin that stands otherwise now, or did before."""
    code = 1 if found.unreachable else 0
    if values["json"]:
        output.write(output.json_text(found) + "\n")
        return code
    ident = output.style(output.clean(said), "bold")
    output.write(f"{output.style(word, 'green')} {ident}\n" if found.changed else f"{ident} was {word} already\n")
    if undo:
        whose = " --user" if any(one.scope == "user" for one in found.plugins) else ""
        output.write(f"{mirrored.notes(found)}undo it with: metier plugin {undo} {plans.named(said)}{whose}\n")
    return code
