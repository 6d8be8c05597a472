"""`metier add`."""

from __future__ import annotations

from metier import cli
from metier.cli import output, plans, supplied
from metier.errors import MetierError, UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.supplies import Outcome

CUT = 200
"""Characters of a candidate's description that are shown at most."""


def run(values: Values) -> int:
    """Get skills from a source; exit 1 when any is refused or held, or when it is not said which."""
    _checked(values)
    try:
        with supplied.opened(values) as m:
            outcome = supplied.carried_out(values, "Install", _adding(m, values))
    except MetierError as error:
        candidates = error.details.get("candidates")
        if values["json"] or not isinstance(candidates, list) or not candidates:
            raise
        output.write(_choice(error, candidates, supplied.words(values)[0]))
        return 1
    return 0 if outcome.ok else 1


def _checked(values: Values) -> None:
    """Find contradictions before anything is fetched."""
    supplied.users(values)
    if values["skill"] and values["all"]:
        raise UsageError("--skill and --all contradict each other", hint="leave one of them out")
    if values["accept_dangerous"] and not (cli.text_of(values["reason"]) or "").strip():
        raise UsageError("--accept-dangerous needs --reason", hint="say why, for the audit log: --reason TEXT")


def _adding(m: Library, values: Values) -> Callable[[Callable[[Outcome], bool]], Outcome]:
    skills, to, text = values["skill"], values["to"], cli.text_of
    assert isinstance(skills, list)
    assert isinstance(to, list)

    def act(consent: Callable[[Outcome], bool]) -> Outcome:
        return m.add(
            supplied.words(values)[0], skills=skills, all=bool(values["all"]), ref=text(values["ref"]) or "", to=to,
            user=bool(values["user"]), name=text(values["name"]) or "", force=bool(values["force"]),
            accept_dangerous=bool(values["accept_dangerous"]), reason=text(values["reason"]) or "",
            dry_run=bool(values["dry_run"]), consent=consent,
        )  # fmt: skip

    return act


def _choice(error: MetierError, candidates: Sequence[Mapping[str, str]], source: str) -> str:
    """List what there is to choose from, and the very command that chooses."""
    again, clean = f"metier add {plans.named(source)}", output.clean
    said = f"{clean(error.message)}\n\n"
    if "source" in candidates[0]:
        rows = [(clean(one["name"]), clean(one["source"])) for one in candidates]
        return f"{said}{output.table(rows, ('NAME', 'SOURCE'))}\nnext: metier add {plans.named(candidates[0]['source'])}\n"
    table = output.table([_row(one) for one in candidates], ("NAME", "PATH", "DESCRIPTION"))
    names = [one["name"] for one in candidates]
    first = candidates[0]["path"] if names.count(names[0]) > 1 else names[0]
    every = f", or {again} --all" if len(set(names)) == len(names) else ""
    return f"{said}{table}\nnext: {again} --skill {plans.named(first)}{every}\n"


def _row(one: Mapping[str, str]) -> tuple[str, str, str]:
    about = " ".join(one["description"][:CUT].split())
    return output.clean(one["name"]), output.clean(one["path"]) or ".", output.clean(about)
