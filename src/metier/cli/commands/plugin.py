"""Runs `metier plugin`, and renders plugins and the results of its actions as text.

Strangers' text is made safe for a terminal first.
"""

from __future__ import annotations

from metier.cli import plans
from metier.cli.argv import (
    PROJECT_OR_USER,
    VERBOSE,
    YES,
    CommandRow,
    Option,
    Values,
    cannot,
    for_user,
    refuse_misplaced,
)
from metier.cli.changes import describe_candidate
from metier.cli.consent import Consent, require_yes
from metier.cli.main import opened
from metier.cli.output import answer, bold, clean, counted, counts_text, lines, say, style, table
from metier.cli.plans import (
    DONE_WORDS,
    bad_news_rows,
    count_steps,
    plan_text,
    shell_name,
    short_id,
)
from metier.errors import NotFoundError, UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.library import Library
    from metier.model import Texts
    from metier.plugins.model import (
        PluginFault,
        PluginList,
        PluginResult,
        PluginRow,
        PluginSkillRow,
    )
    from metier.supply.model import Outcome, PlanStep

    Verb = Callable[[Library, Values], int | None]


STATE_WORDS = {"synced": "enabled", "update_pending": "pending"}
"""How people are told what a status means; the others are said as they are."""
STATE_STYLES = {
    "discovered": "dim",
    "synced": "green",
    "update_pending": "yellow",
    "paused": "yellow",
    "missing": "red",
    "disabled": "dim",
    "adopted": "dim",
}
SKILL_STATE_WORDS = {
    "synced": "as accepted",
    "update_pending": "an update waits",
    "new": "new, waits for a yes",
    "removed": "gone upstream",
    "kept": "gone upstream, kept",
    "declined": "an update was declined",
}
NO_PLUGINS = (
    "No plugins are mirrored here, and none were found.\n\nnext: metier plugin enable "
    "SOURCE, or set plugins.sources\n"
)


# --- lists


def plugin_table(found: PluginList) -> str:
    """List plugins, then what could not be read."""
    rows = [
        (
            one.plugin_id,
            state_of(one),
            one.installed_version or one.version or "-",
            f"{len(one.skills):,}",
            one.scope or "-",
            one.source,
        )
        for one in found.plugins
    ]
    heads = ("ID", "STATE", "VERSION", "SKILLS", "SCOPE", "SOURCE")
    listed = table(rows, heads, [_style(one) for one in found.plugins], whole=("ID",))
    return "\n".join(filter(None, (listed, _faults(found.errors, "error")))) or NO_PLUGINS


def plugin_details(found: PluginList) -> str:
    """Show plugins one by one, with their skills."""
    return "\n".join(map(_plugin, found.plugins))


def state_of(one: PluginRow) -> str:
    """Give a plugin's state in the words of people."""
    return STATE_WORDS.get(one.status, one.status)


def _style(one: PluginRow) -> str:
    return STATE_STYLES.get(one.status, "bold")


def _plugin(one: PluginRow) -> str:
    named = f"{bold(one.plugin_id)} {clean(one.installed_version or one.version)}".rstrip()
    newer = (
        f", {clean(one.version)} is there"
        if one.installed_version and one.version not in {"", one.installed_version}
        else ""
    )
    scope = f", {one.scope}" if one.scope else ""
    rows = [_skill(name, bound, one) for name, bound in one.skills.items()]
    heads = ("SKILL", "STATE", "ACCEPTED", "SEEN", "WAITS")
    skills = "\n" + table(rows, heads, whole=("SKILL",), below="WAITS") if rows else ""
    return (
        f"{named}: {style(state_of(one), _style(one))}{newer}{scope}\n  {clean(one.source)}\n"
        f"{skills}"
    )


def _skill(name: str, bound: PluginSkillRow, one: PluginRow) -> Texts:
    return (
        name,
        state_of(one)
        if one.status in {"discovered", "disabled"}
        else SKILL_STATE_WORDS.get(bound.status, bound.status),
        short_id(bound.accepted or "") or "-",
        short_id(bound.observed or "") or "-",
        bound.pending or "-",
    )


# --- what was done


ALL_OR_NONE = "a plugin's skills are installed together, or none of them is"


def enabled_text(m: Library, found: PluginResult, consent: Consent, *, dry: bool) -> str:
    """Say what enabling put in place, or would; or why nothing was. One that is enabled already was
    looked at instead.
    """
    if found.changed and not count_steps(found.plan):
        return sync_text(m, found)
    plan = ""
    if (dry or found.refused) and not consent.shown:
        plan = plan_text(_planned(found), verbose=consent.verbose)
    parts = [plan, _faults(found.unreachable, "unreachable")]
    if found.refused or dry:
        together = found.refused and count_steps(found.plan)
        parts += ["\n" if plan else "", f"{ALL_OR_NONE}\n" if together else ""]
        parts.append("nothing was changed\n")
    elif found.changed:
        parts += map(_placed, (*found.plan.add, *found.plan.update))
        parts += [_enabled_line(one, news=bool(found.opened)) for one in found.plugins]
    elif not found.unreachable:
        parts += [f"{clean(one.plugin_id)} is {state_of(one)} already\n" for one in found.plugins]
    news = (_waiting(m, found.opened), notes_text(found), _next_review(found.opened))
    return "".join([*parts, *news])


def _planned(found: PluginResult) -> Outcome:
    """Give what enabling came to as supply tells it."""
    from metier.supply.model import Outcome

    return Outcome(found.plan, refused=found.refused)


def _placed(step: PlanStep) -> str:
    word = DONE_WORDS["restore"] if step.mode == "restore" else "mirrored"
    return plans.done_line(word, step.name, plans.place_names(step))


def _enabled_line(one: PluginRow, *, news: bool) -> str:
    what = clean(f"{one.plugin_id} {one.installed_version or ''}").rstrip()
    # the others wait for a yes, or had a no
    here = sum(bound.accepted is not None for bound in one.skills.values())
    following = (
        ""
        if news
        else f"\nnext: metier plugin sync {shell_name(one.plugin_id)} looks for what is new\n"
    )
    return f"{what} is {state_of(one)}: {counted(here, 'skill')}, yours to edit\n{following}"


def sync_text(m: Library, found: PluginResult) -> str:
    """Sum up what a look at plugins found; then a line for each thing: what waits now, what is
    gone, who did not answer.
    """
    return "".join(
        (
            _count_states(found.plugins, len(found.opened)),
            _waiting(m, found.opened),
            lines(found.superseded, f"{style('superseded', 'dim')} "),
            *(_missing(one.plugin_id) for one in found.plugins if one.status == "missing"),
            _faults(found.unreachable, "unreachable"),
            notes_text(found),
            _next_review(found.opened),
        )
    )


def _waiting(m: Library, opened: Sequence[str]) -> str:
    known = {one.id: one for one in m.candidates(all=True)} if opened else {}
    return "".join(
        f"{style('waits', 'yellow')} {clean(ident)}"
        f"{f': {describe_candidate(known[ident])}' if ident in known else ''}\n"
        for ident in opened
    )


def _next_review(opened: Sequence[str]) -> str:
    if not opened:
        return ""
    shown = f"show {shell_name(opened[0])}" if len(opened) == 1 else "list"
    return f"\nnext: metier review {shown}\n"


def _missing(ident: str) -> str:
    name = shell_name(ident)
    return (
        f"{style('missing', 'red')} {clean(ident)}: its source has it no longer; its skills stay "
        f"as they are\n"
        f"  next: metier plugin adopt {name} SKILL, or metier plugin disable {name}\n"
    )


def _count_states(plugins: Sequence[PluginRow], waiting: int) -> str:
    """Sum up how plugins stand, in the order of the words, and how much waits for a yes."""
    if not plugins:
        return "no plugin is enabled here\n"
    counts = {
        STATE_WORDS.get(status, status): sum(one.status == status for one in plugins)
        for status in STATE_STYLES
    }
    said = counts_text({word: count for word, count in counts.items() if count})
    news = f"; {counted(waiting, 'change')} to review" if waiting else ""
    return f"{counted(len(plugins), 'plugin')}: {said}{news}\n"


def _faults(faults: Sequence[PluginFault], word: str) -> str:
    return lines(
        (f"{f'{one.path}: ' if one.path else ''}{one.code} {one.message}" for one in faults),
        f"{style(word, 'red')} ",
    )


def notes_text(found: PluginResult) -> str:
    """Give what there is to know beside."""
    return lines(found.notes, "note: ")


TAKES = {
    "ref": ("enable",),
    "plugin": ("enable",),
    "to": ("enable",),
    "adopt": ("enable",),
    "dry_run": ("enable",),
    "verbose": ("enable",),
    "no_wait": ("enable", "disable", "pause", "resume", "adopt", "sync"),
}
"""Which verbs an option is for; --yes is taken by all, as scripts give it."""
NEEDS = {
    "enable": ("ID-or-PATH",),
    "disable": ("ID",),
    "pause": ("ID",),
    "resume": ("ID",),
    "adopt": ("ID", "SKILL"),
}
"""What must follow a verb, and nothing else; the others take any number of ids."""


def run(values: Values) -> int | None:
    """List plugins, or change what is mirrored of one; exit 1 when something is refused or cannot
    be reached.
    """
    verb, *rest = values.words
    verbs: dict[str, Verb] = {
        "list": _list,
        "enable": _enable,
        "disable": _disable,
        "pause": _pause,
        "resume": _resume,
        "adopt": _adopt,
        "sync": _sync,
    }
    if verb not in verbs:
        raise cannot("plugin", verb[:40], *verbs)
    needs = NEEDS.get(verb)
    if needs is not None and len(rest) != len(needs):
        raise UsageError(
            f"metier plugin {verb} needs {' and '.join(needs)}", hint="see: metier plugin --help"
        )
    refuse_misplaced(values, f"plugin {verb}", verb, TAKES)
    for_user(values)
    with opened(values) as m:
        return verbs[verb](m, values)


def _list(m: Library, values: Values) -> None:
    found = m.plugins(user=for_user(values))
    rest = [_whole_id(found.plugins, said) for said in values.words[1:]]
    unknown = [ident for ident in rest if all(one.plugin_id != ident for one in found.plugins)]
    if unknown:
        raise NotFoundError(
            f"there is no plugin '{unknown[0]}'", hint="'metier plugin list' shows all"
        )
    if rest:
        found = found._replace(plugins=tuple(one for one in found.plugins if one.plugin_id in rest))
    answer(values, found, plugin_details if rest else plugin_table)


def _enable(m: Library, values: Values) -> int:
    consent = Consent(values, "Mirror")
    dry = values.flag("dry_run")
    found = m.plugin_enable(
        values.words[1],
        name=values.text("plugin"),
        ref=values.text("ref"),
        to=values.many("to"),
        user=values.flag("user"),
        adopt=values.many("adopt"),
        dry_run=dry,
        consent=consent,
        blocking=not values.flag("no_wait"),
    )
    if not dry:
        consent.settle(bad_news_rows(_planned(found), verbose=consent.verbose))
    answer(values, found, lambda one: enabled_text(m, one, consent, dry=dry))
    return 1 if found.refused or found.unreachable else 0


def _disable(m: Library, values: Values) -> int:
    """Ask, saying what agents will no longer see; the library asks for the same yes by its own
    name.
    """
    user = for_user(values)
    known = _mirrored(m, user)
    ident = _whole_id(known, values.words[1])
    now = next((one for one in known if one.plugin_id == ident), None)
    if now is not None and now.status not in {"disabled", "adopted"}:
        require_yes(
            values,
            f"Agents will no longer see these skills; their versions and your edits are kept:\n"
            f"{lines(now.skills)}Disable {clean(ident)}?",
        )
    found = m.plugin_disable(
        ident, disable_linked_skills=True, user=user, blocking=not values.flag("no_wait")
    )
    return _report(found, values, "disabled", ident, undo="enable")


def _pause(m: Library, values: Values) -> int:
    found, ident = _act_on_named(m, values, m.plugin_pause)
    return _report(found, values, "paused", ident, undo="resume")


def _resume(m: Library, values: Values) -> int:
    found, ident = _act_on_named(m, values, m.plugin_resume)
    code = _report(found, values, "resumed", ident)
    if not values.json:
        say(sync_text(m, found))
    return code


def _adopt(m: Library, values: Values) -> None:
    skill = values.words[2]
    found, ident = _act_on_named(
        m, values, lambda ident, **more: m.plugin_adopt(ident, skill, **more)
    )
    text = (
        f"{bold(skill)} is yours now: {clean(ident)} no longer changes it\n{notes_text(found)}\n"
        f"next: metier history {shell_name(skill)} has its versions\n"
    )
    answer(values, found, text)


def _sync(m: Library, values: Values) -> int:
    user = for_user(values)
    blocking = not values.flag("no_wait")
    rest = values.words[1:]
    try:
        found = m.plugin_sync(rest, user=user, blocking=blocking)
    except NotFoundError:
        known = _mirrored(m, user)
        found = m.plugin_sync(
            [_whole_id(known, said) for said in rest], user=user, blocking=blocking
        )
    answer(values, found, lambda one: sync_text(m, one))
    return 1 if found.unreachable else 0


def _act_on_named(
    m: Library, values: Values, verb: Callable[..., PluginResult]
) -> tuple[PluginResult, str]:
    """Do something about the plugin that somebody means, and give its id; only where nobody knows
    it are all looked through.
    """
    user = for_user(values)
    blocking = not values.flag("no_wait")
    said = values.words[1]
    try:
        return verb(said, user=user, blocking=blocking), said
    except NotFoundError:
        ident = _whole_id(_mirrored(m, user), said)
        if ident == said:
            raise
        return verb(ident, user=user, blocking=blocking), ident


def _mirrored(m: Library, user: bool | None) -> list[PluginRow]:  # noqa: FBT001 - whose
    return [one for one in m.plugins(user=user).plugins if one.scope]


def _whole_id(known: Sequence[PluginRow], said: str) -> str:
    """Give the id that somebody means; a marketplace's name may be left out where one plugin
    fits.
    """
    ids = {one.plugin_id for one in known}
    fitting = [ident for ident in ids if ident.partition("@")[0] == said]
    return fitting[0] if said not in ids and len(fitting) == 1 else said


def _report(found: PluginResult, values: Values, word: str, said: str, undo: str = "") -> int:
    """Report one plugin that stands otherwise now, or did before."""
    ident = bold(said)
    text = f"{style(word, 'green')} {ident}\n" if found.changed else f"{ident} was {word} already\n"
    if undo:
        whose = " --user" if any(one.scope == "user" for one in found.plugins) else ""
        text += f"{notes_text(found)}undo it with: metier plugin {undo} {shell_name(said)}{whose}\n"
    answer(values, found, text)
    return 1 if found.unreachable else 0


ROWS = (
    CommandRow(
        "plugin",
        operands="list|enable|disable|pause|resume|adopt|sync [ID...]",
        options=(
            Option("--ref", "with enable: this branch, tag, commit or version", "R"),
            Option("--plugin", "with enable: this plugin of a source that has several", "NAME"),
            Option(
                "--to", "with enable: also for this agent (may be repeated)", "AGENT", repeat=True
            ),
            Option(
                "--adopt",
                "with enable: keep your own skill of this name, and leave the plugin's out (may be "
                "repeated)",
                "SKILL",
                repeat=True,
            ),
            Option("--dry-run", "with enable: show what would be done, and do nothing"),
            *PROJECT_OR_USER,
            YES,
            VERBOSE._replace(help=f"with enable: {VERBOSE.help}"),
            Option("--no-wait", "give up at once when another process is changing skills"),
        ),
        examples={
            "metier plugin list": "discovered, enabled, paused, pending, missing, disabled, adopted",
            "metier plugin list brand-kit": "one of them, with its skills",
            "metier plugin enable brand-kit": "all of its skills or none: fetched, scanned, shown, asked about",
            "metier plugin enable owner/repo --plugin brand-kit": "straight from where it lies; a folder works too",
            "metier plugin sync": "edits become versions; what is new waits in 'metier review list'",
            "metier plugin pause brand-kit": "leave its skills as they are; resume goes on",
            "metier plugin disable brand-kit --yes": "agents no longer see its skills; nothing of them is lost",
            "metier plugin adopt brand-kit palette": "the skill is yours from now on; its versions stay",
        },
        detail="ID is what the list shows; the marketplace behind the @ may be left out where "
        "only one plugin fits.\n"
        "Nothing that a plugin changes reaches your copies before a person said yes. "
        "The setting plugins.sources names\n"
        "where plugins are looked for. Exit code 1 when a skill is refused, or a "
        "source cannot be reached.",
        run=run,
    ),
)
