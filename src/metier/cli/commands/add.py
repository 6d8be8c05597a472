"""Runs `metier add`, `metier adopt` and `metier remove`: they install skills, start tracking them,
and remove them.
"""

from __future__ import annotations

from metier.cli.argv import (
    DRY_RUN,
    PROJECT_OR_USER,
    VERBOSE,
    YES,
    CommandRow,
    Option,
    Values,
    contradiction,
    for_user,
)
from metier.cli.consent import carry_out, may_ask, refuse_to_ask, report, require_yes
from metier.cli.main import opened
from metier.cli.output import clean, counted, note, say, table
from metier.cli.plans import shell_name
from metier.errors import MetierError, UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.library import Library
    from metier.supply.model import Outcome

MAX_DESCRIPTION_CHARACTERS = 200
"""Characters of a candidate's description that are shown at most."""
MAX_READERS_NAMED = 3
"""Agents that are named because they see an installed skill anyway."""


def run(values: Values) -> int:
    """Get skills from a source; exit 1 when any is refused or held, or when it is not said
    which.
    """
    _check_options(values)
    with opened(values) as m:
        m.context.may_start = _Starting(values).may_start
        try:
            outcome = _add(m, values, values.many("skill"), values.many("to"))
        except MetierError as error:
            candidates = error.details.get("candidates")
            if values.json or not isinstance(candidates, list) or not candidates:
                raise
            if not _may_tick(values, error, candidates):
                if error.code == "not-found":  # a name that was mistyped
                    say(_choice(candidates, values.word))
                    raise
                say(f"{clean(error.message)}\n\n{_choice(candidates, values.word)}")
                return 1
            skills = _tick_skills(candidates)
            outcome = _add(m, values, skills, values.many("to") or _tick_agents(m, values))
    return 0 if outcome.ok else 1


class _Starting:
    """Asks once whether each command that skills come from may be started."""

    def __init__(self, values: Values) -> None:
        """Nobody was asked yet."""
        self.values = values
        self.asked: set[str] = set()

    def may_start(self, command: str) -> bool:
        """Show the command, and ask; whoever says no ends it all."""
        if command not in self.asked:
            if not self.values.flag("yes"):
                refuse_to_ask(self.values)
            note(f"starting, outside the sandbox: {clean(command)}")
            require_yes(
                self.values,
                "It runs as you, and can do what you can. Start it?",
                declined="Nothing was started.",
            )
            self.asked.add(command)
        return True


def _add(m: Library, values: Values, skills: Sequence[str], to: Sequence[str]) -> Outcome:
    text = values.text
    flag = values.flag
    dry = flag("dry_run")
    return carry_out(
        values,
        "Install",
        lambda consent: m.add(
            values.word,
            skills=skills,
            all=flag("all"),
            ref=text("ref"),
            to=to,
            user=flag("user"),
            name=text("name"),
            force=flag("force"),
            accept_dangerous=flag("accept_dangerous"),
            reason=text("reason"),
            dry_run=dry,
            no_deps=flag("no_deps"),
            observe=flag("observe"),
            consent=consent,
        ),
        plan_only=dry,
    )


def _may_tick(values: Values, error: MetierError, candidates: Sequence[Mapping[str, str]]) -> bool:
    """Tell whether somebody is there who left it open which skills of a source are meant."""
    named = values.flag("skill") or values.flag("all")
    is_open = error.code == "choose" and "path" in candidates[0] and not named
    return is_open and may_ask(values, yes=values.flag("yes"))


def _tick_skills(candidates: Sequence[Mapping[str, str]]) -> list[str]:
    """Let somebody tick skills; give what `--skill` takes: names, and paths of those that share
    one.
    """
    from metier.cli.pick import PickRow, tick

    names = [one["name"] for one in candidates]
    rows = [
        PickRow(
            one["name"] if names.count(one["name"]) == 1 else f"{one['name']} ({one['path']})",
            one["description"],
        )
        for one in candidates
    ]
    question = f"Which of these {counted(len(rows), 'skill')} do you want?"
    return [
        names[at] if names.count(names[at]) == 1 else candidates[at]["path"]
        for at in tick(question, rows, ticked=False, least=1)
    ]


def _tick_agents(m: Library, values: Values) -> list[str]:
    """Let somebody tick the agents that don't read the folder where skills are installed; there is
    nothing to ask where all do.
    """
    from metier.cli.pick import PickRow, tick
    from metier.supply.places import WORKING_FOLDER

    folders = {
        one: one.user_folder if values.flag("user") else one.project_folder for one in m.agents()
    }
    others = [one for one, folder in folders.items() if folder not in {"", WORKING_FOLDER}]
    if not others:
        return []
    readers = [one.title for one, folder in folders.items() if folder == WORKING_FOLDER]
    question = "Which agents are they for?"
    if readers:
        named = ", ".join(readers[:MAX_READERS_NAMED])
        more = len(readers) - MAX_READERS_NAMED
        named += f" and {more} more" if more > 0 else ""
        verb = "reads" if len(readers) == 1 else "read"
        question = f"{named} {verb} {WORKING_FOLDER}. Which other agents are they for?"
    rows = [PickRow(one.title, f"in {folders[one]}") for one in others]
    ticked = tick(question, rows, ticked=True, least=0)
    return [others[at].id for at in ticked]


def _check_options(values: Values) -> None:
    """Find contradictions before anything is fetched."""
    for_user(values)
    if values.flag("skill") and values.flag("all"):
        raise contradiction("--skill", "--all")
    if values.flag("accept_dangerous") and not values.text("reason").strip():
        raise UsageError(
            "--accept-dangerous needs --reason", hint="say why, for the audit log: --reason TEXT"
        )


def _choice(candidates: Sequence[Mapping[str, str]], source: str) -> str:
    """List what there is to choose from, and the very command that chooses."""
    if "source" in candidates[0]:
        rows = [(one["name"], one["source"]) for one in candidates]
        first = shell_name(candidates[0]["source"])
        return f"{table(rows, ('NAME', 'SOURCE'))}\nnext: metier add {first}\n"
    listed = table([_row(one) for one in candidates], ("NAME", "PATH", "DESCRIPTION"))
    names = [one["name"] for one in candidates]
    first = candidates[0]["path"] if names.count(names[0]) > 1 else names[0]
    again = f"metier add {shell_name(source)}"
    every = f", or {again} --all" if len(set(names)) == len(names) else ""
    return f"{listed}\nnext: {again} --skill {shell_name(first)}{every}\n"


def _row(one: Mapping[str, str]) -> tuple[str, str, str]:
    about = " ".join(one["description"][:MAX_DESCRIPTION_CHARACTERS].split())
    return one["name"], one["path"] or ".", about


def run_adopt(values: Values) -> int:
    """Put a skill that lies on disk under the lock, as it is; exit 1 when it is refused."""
    user = for_user(values)
    with opened(values) as m:
        outcome = m.adopt(values.word, source=values.text("source"), user=user)
        report(outcome, values, added="adopted")
    return 0 if outcome.ok else 1


def run_remove(values: Values) -> int:
    """Take back what was installed; exit 1 when any is left in its place."""
    user = bool(for_user(values))
    dry = values.flag("dry_run")
    force = values.flag("force")
    with opened(values) as m:
        outcome = carry_out(
            values,
            "Remove",
            lambda consent: m.remove(
                values.words,
                user=user,
                dry_run=dry,
                force=force,
                orphans=values.flag("orphans"),
                consent=consent,
            ),
            plan_only=dry,
        )
    return 0 if outcome.ok else 1


ROWS = (
    CommandRow(
        "add",
        operands="SOURCE",
        options=(
            Option(
                "--skill", "only this skill of the source (may be repeated)", "NAME", repeat=True
            ),
            Option("--all", "every skill of the source"),
            Option("--ref", "this branch, tag, commit or version", "R"),
            Option("--to", "also for this agent (may be repeated)", "AGENT", repeat=True),
            *PROJECT_OR_USER,
            YES,
            DRY_RUN,
            VERBOSE,
            Option("--name", "install it under this name", "NAME"),
            Option(
                "--force",
                "replace a different skill of that name, and install what is only doubtful; "
                "never what is dangerous",
            ),
            Option(
                "--accept-dangerous", "install even what a scan calls dangerous; needs --reason"
            ),
            Option("--reason", "why, for the audit log", "TEXT"),
            Option("--no-deps", "leave out the skills that it needs"),
            Option("--observe", "run them among decoys first, and see what they do"),
        ),
        examples={
            "metier add anthropics/skills --skill pdf": "one skill of a repository on GitHub",
            "metier add https://host/team/repo.git#v2:skills/pdf": "by branch, tag or commit, and a path inside",
            "metier add ./folder": "a folder; skill.zip and other archives work too",
            "metier add https://example.com": "what a site offers in its well-known index",
            "metier add mcp+https://example.com/mcp --skill pdf": "what an MCP server serves",
            "metier add marketplace:anthropics/skills --skill pdf": "by a marketplace's own list of plugins",
            "metier add anthropics/skills --all --to claude-code --dry-run": "the plan, and nothing else",
        },
        detail="Nothing reaches a folder that agents read before it was scanned and decided "
        "about.\n"
        "The skills that a skill needs come along, each scanned and decided about by itself; one "
        "that is refused keeps out those that need it.\n"
        "Where a source has several skills and none is named, you tick those you want on a "
        "terminal, then the agents; elsewhere they are listed.\n"
        "Exit code 1 when any is refused, when you leave, or when the skills are only listed.",
        run=run,
    ),
    CommandRow(
        "remove",
        operands="NAME...",
        options=(
            *PROJECT_OR_USER,
            YES,
            DRY_RUN,
            VERBOSE,
            Option(
                "--force",
                "even where it was edited, or another skill needs it; edits stay in the store",
            ),
            Option("--orphans", "also what came only because these skills needed it"),
        ),
        examples={
            "metier remove pdf": "its folder, its links and its place in the lock",
            "metier remove pdf --orphans": "and what nobody needs then",
        },
        run=run_remove,
    ),
    CommandRow(
        "adopt",
        operands="PATH",
        options=(Option("--source", "where it came from, as for add", "SOURCE"), *PROJECT_OR_USER),
        examples={
            "metier adopt .agents/skills/pdf --source anthropics/skills": "so that it can be updated"
        },
        run=run_adopt,
    ),
)
