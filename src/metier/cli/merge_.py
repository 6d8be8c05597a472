"""`metier merge`."""

from __future__ import annotations

from metier.cli import output, plans, supplied
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values
    from metier.supplying.merging import Merging

WAYS = ("ours", "theirs", "continue", "abort")


def run(values: Values) -> int:
    """Show a held update, or settle it; exit 1 while it waits."""
    user, name = supplied.users(values), supplied.words(values)[0]
    ways = [way for way in WAYS if values[way]]
    if len(ways) > 1:
        raise UsageError(f"--{ways[0]} and --{ways[1]} contradict each other", hint="leave one of them out")
    with supplied.opened(values) as m:
        found = m.merge(name, *ways, user=user)
        output.write(output.json_text(found) + "\n" if values["json"] else _text(found))
    return 1 if found.state == "shown" else 0


def _text(found: Merging) -> str:
    if found.outcome is not None:
        return plans.outcome_text(found.outcome)
    if found.state == "shown":
        return _shown(found)
    again = f"next: metier merge {plans.named(found.name)} takes it after all, once 'metier update' has met it again\n"
    return f"the update of {output.clean(found.name)} was dropped; your copy is as it was\n\n{again}"


def _shown(found: Merging) -> str:
    """Say what waits, why, where it can be edited, and each way to settle it."""
    told = {f"{one.path}: {one.why}" for one in found.conflicts}
    reasons = "".join(f"  {output.clean(reason)}\n" for reason in found.reasons if reason not in told)
    merge = f"metier merge {plans.named(found.name)}"
    ways = [("--continue", "apply it as it is there"), ("--abort", "drop it, and keep your copy as it is")]
    if found.conflicts:
        ways[1:1] = [("--ours", "keep your side of each conflict"), ("--theirs", "take the new side of each conflict")]
        ways[0] = ("--continue", "when you have edited it")
    table = "".join(f"  {merge} {way.ljust(len('--continue'))}  {what}\n" for way, what in ways)
    return (f"{output.style('held', 'yellow')} {output.style(output.clean(found.name), 'bold')}\n{reasons}"
            f"{plans.conflict_lines(found.conflicts)}\nit is laid out in {output.clean(found.desk)}\n\nnext:\n{table}")  # fmt: skip
