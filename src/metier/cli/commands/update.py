"""Runs `metier update`, `metier outdated` and `metier merge`: they update skills, list newer
versions, and settle held updates.
"""

from __future__ import annotations

from metier.cli.argv import (
    PROJECT_OR_USER,
    VERBOSE,
    YES,
    YES_UNASKED,
    CommandRow,
    Option,
    Values,
    contradiction,
    for_user,
)
from metier.cli.consent import carry_out, may_ask, require_yes
from metier.cli.main import opened
from metier.cli.output import answer, bold, clean, columns, lines, note, say, style, table
from metier.cli.plans import conflict_lines, count_steps, outcome_text, shell_name, short_id
from metier.errors import NotFoundError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.library import Library
    from metier.supply.merge.settle import MergeStatus
    from metier.supply.upstream import UpstreamStatus


def run(values: Values) -> int:
    """Bring skills up to date; exit 1 when any is held, or with --check when anything waits."""
    user = for_user(values)
    check = values.flag("check")
    with opened(values) as m:
        outcome = carry_out(
            values,
            "Update",
            lambda consent: m.update(
                values.words, user=user, check=check, diff=values.flag("diff"), consent=consent
            ),
            plan_only=check,
        )
    if check and outcome.plan.conflicts and not values.json:
        name = shell_name(outcome.held[0].name) if len(outcome.held) == 1 else "NAME"
        say(f"\nnext: metier update {name}, then: metier merge {name}\n")
    waits = check and count_steps(outcome.plan) > 0
    return 0 if outcome.ok and not waits else 1


def run_outdated(values: Values) -> None:
    """Say which skills have a newer version; nothing is changed."""
    user = for_user(values)
    with opened(values) as m:
        found = m.outdated(user=user)
    answer(values, found, _outdated_text, {"skills": found})


def _outdated_text(found: list[UpstreamStatus]) -> str:
    rows = [
        (
            one.name,
            one.source,
            short_id(one.have) or "-",
            short_id(one.newest) or "-",
            _state_of(one),
        )
        for one in found
    ]
    if not rows:
        return "Nothing is installed here.\n\nnext: metier add SOURCE\n"
    away = [f"{one.name}: {one.why}" for one in found if one.state == "unavailable"]
    gap = "\n" if away else ""
    heads = ("NAME", "SOURCE", "HAVE", "NEWEST", "STATE")
    return f"{table(rows, heads)}{gap}{lines(map(clean, away), '')}"


def _state_of(one: UpstreamStatus) -> str:
    if one.state == "current" and one.newest not in {"", one.have}:
        return "newer, with the same files"
    return f"{one.state}: {one.why}" if one.why and one.state != "unavailable" else one.state


MERGE_WAYS = ("ours", "theirs", "continue", "abort")


def run_merge(values: Values) -> int:
    """Show a held update, or settle it; exit 1 while it waits."""
    user = for_user(values)
    ways = [way for way in MERGE_WAYS if values.flag(way)]
    if len(ways) > 1:
        raise contradiction(f"--{ways[0]}", f"--{ways[1]}")
    with opened(values) as m:
        found = m.merge(values.word, *ways, user=user)
        if found.conflicts and may_ask(values, yes=values.flag("yes")):
            found = _merge_by_hand(m, values, found, user)
        answer(values, found, _merge_text)
    return 1 if found.state == "shown" else 0


def _merge_by_hand(
    m: Library,
    values: Values,
    found: MergeStatus,
    user: bool | None,  # noqa: FBT001 - whose
) -> MergeStatus:
    """Open the files with conflicts in an editor until none has a marker, then ask whether to apply
    that. What nobody can settle in an editor is shown with the other ways.
    """
    from metier.cli.commands.open import editable, open_in_editor

    name = found.name
    while files := editable(found.desk, (path for path, line in found.left if line)):
        say(conflict_lines(found.conflicts))
        try:
            code = open_in_editor(*files)
        except NotFoundError as error:
            note(f"{error.message}; {error.hint}" if error.hint else error.message)
            return found
        if code:
            note(f"the editor ended with {code}")
            return found
        found = m.merge(name, user=user)
        marked = [f"{path}:{line}" for path, line in found.left if line]
        if marked:
            more = f" and {len(marked) - 1:,} more" if len(marked) > 1 else ""
            have = "have" if more else "has"
            question = f"{clean(marked[0])}{more} still {have} a conflict marker. Edit again?"
            require_yes(values, question, declined=_later(name))
    if found.left:
        return found
    require_yes(values, "No conflict is left. Apply the merge?", declined=_later(name))
    return m.merge(name, "continue", user=user)


def _later(name: str) -> str:
    return f"nothing was changed; your edits are kept. Later: metier merge {shell_name(name)}"


def _merge_text(found: MergeStatus) -> str:
    if found.outcome is not None:
        return outcome_text(found.outcome)
    if found.state == "shown":
        return _held_text(found)
    return (
        f"the update of {clean(found.name)} was dropped; your copy is as it was\n\nnext: metier "
        f"merge {shell_name(found.name)} takes it after all, once 'metier update' has met it "
        f"again\n"
    )


def _held_text(found: MergeStatus) -> str:
    """Say what waits, why, where it can be edited, and each way to settle it."""
    told = {f"{one.path}: {one.why}" for one in found.conflicts}
    reasons = lines(reason for reason in found.reasons if reason not in told)
    ways = {
        "--continue": "apply it as it is there",
        "--abort": "drop it, and keep your copy as it is",
    }
    if found.conflicts:
        ways = {
            "--continue": "when you have edited it" if found.left else "apply it as you edited it",
            "--ours": "keep your side of each conflict",
            "--theirs": "take the new side of each conflict",
            "--abort": ways["--abort"],
        }
    merge = f"metier merge {shell_name(found.name)}"
    commands = columns([(f"{merge} {way}", what) for way, what in ways.items()])
    return (
        f"{style('held', 'yellow')} {bold(found.name)}\n{reasons}"
        f"{conflict_lines(found.conflicts)}\nit is laid out in "
        f"{clean(found.desk)}\n\nnext:\n{commands}"
    )


ROWS = (
    CommandRow(
        "update",
        operands="[NAME...]",
        options=(
            Option("--check", "show what there is, and change nothing"),
            Option("--diff", "show every line that changed upstream"),
            *PROJECT_OR_USER,
            YES,
            VERBOSE,
        ),
        examples={
            "metier update": "look at everything, show the plan, ask",
            "metier update pdf --yes": "apply what merges cleanly; what conflicts or wants more is held",
            "metier update --check": "exit code 1 when something waits",
            "metier update --check --diff": "what changed upstream, line by line",
        },
        detail="Held updates say why; 'metier merge NAME' settles them. Exit code 1 when any "
        "is held.",
        run=run,
    ),
    CommandRow(
        "outdated",
        options=PROJECT_OR_USER,
        examples={"metier outdated": "nothing is changed"},
        paged=True,
        run=run_outdated,
    ),
    CommandRow(
        "merge",
        operands="NAME",
        options=(
            Option("--ours", "keep my side of each conflict"),
            Option("--theirs", "take the new version's side of each conflict"),
            Option("--continue", "go on with the files as I have edited them"),
            Option("--abort", "forget this update"),
            *PROJECT_OR_USER,
            YES_UNASKED,
        ),
        examples={
            "metier merge pdf": "edit each conflict in $VISUAL or $EDITOR; without a terminal, show them",
            "metier merge pdf --continue": "check, scan and apply what you edited",
            "metier merge pdf --theirs": "where both changed a line, take the new one",
        },
        detail="On a terminal your editor opens on the files with conflicts. When no marker is left in them, you "
        "are asked whether to apply the merge.\n"
        "Exit code 1 while it waits. What comes out is scanned again, and is one more "
        "revision: metier rollback undoes it.",
        run=run_merge,
    ),
)
