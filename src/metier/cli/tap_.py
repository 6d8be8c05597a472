"""`metier tap`."""

from __future__ import annotations

from metier.cli import output, supplied
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values

NONE = "There are no taps.\n\nnext: metier tap add OWNER/REPO\n"


def run(values: Values) -> int:
    """List, add or remove a tap."""
    verb, *rest = supplied.words(values)
    if verb not in {"list", "add", "remove"} or len(rest) != (verb != "list"):
        said = " ".join([verb, *rest])[:60]
        raise UsageError(f"metier tap cannot '{said}'", hint="write metier tap list, add SOURCE or remove SOURCE")
    with supplied.opened(values) as m:
        found = m.taps() if verb == "list" else m.tap(rest[0], listed=verb == "add")
    if values["json"]:
        output.write(output.json_text({"taps": found}) + "\n")
        return 0
    rows = [(output.clean(one.tap), one.trust, output.clean(one.source)) for one in found]
    output.write(output.table(rows, ("TAP", "TRUST", "SOURCE")) or NONE)
    return 0
