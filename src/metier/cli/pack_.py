"""`metier pack`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Write a skill as an archive."""
    operands = values["operands"]
    assert isinstance(operands, list)
    path, *rest = operands
    if len(rest) > 1:
        raise UsageError(f"unexpected '{rest[1]}'", hint="write metier pack PATH FILE")
    with cli.library(values) as m:
        done = m.pack(path, rest[0] if rest else "")
    if values["json"]:
        output.write(output.json_text(done) + "\n")
    else:
        count = "1 file" if done.files == 1 else f"{done.files:,} files"
        output.write(f"wrote {output.clean(done.path)}: {count}, {done.size:,} bytes\n")
        output.write(f"  sha256 {done.sha256}\n  tree   {done.digest}\n")
    return 0
