"""`metier lock`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values

_FORMATS = "npx, gh, hermes, clawhub or apm"


def run(values: Values) -> int:
    """Exchange records with other tools; exit 1 when an import left skills out."""
    operands = values["operands"]
    assert isinstance(operands, list)
    verb, *rest = operands
    if verb not in {"export", "import"}:
        raise UsageError(f"metier lock cannot '{verb}'", hint="it can export and import")
    if len(rest) > 1:
        raise UsageError(f"unexpected '{rest[1]}'", hint=f"write metier lock {verb} FILE --format FORMAT")
    if values["user"] and values["project"]:
        raise UsageError("--user and --project exclude each other", hint="give one of them")
    form = cli.text_of(values["format"])
    if not form:
        raise UsageError("say whose record", hint=f"add --format {_FORMATS}")
    with cli.library(values) as m:
        carry = m.lock_export if verb == "export" else m.lock_import
        done = carry(form, rest[0] if rest else "", user=bool(values["user"]))
    code = 1 if verb == "import" and done.skipped else 0
    if values["json"]:
        output.write(output.json_text(done) + "\n")
        return code
    said = ("wrote" if done.names else "left alone") if verb == "export" else "read"
    output.write(f"{said} {output.clean(done.file)}: {len(done.names):,} carried over, {len(done.skipped):,} left out\n")
    output.write("".join(f"  {output.clean(name)}\n" for name in done.names))
    for name, why in done.skipped:
        output.write(f"  {output.style('left out', 'yellow')} {output.clean(name)}: {output.clean(why)}\n")
    for note in done.notes:
        output.note(f"note: {note}")
    return code
