"""`metier diff`."""

from __future__ import annotations

from metier import cli
from metier.cli import output, supplied
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values

STYLES = {"---": "bold", "+++": "bold", "@@": "cyan", "+": "green", "-": "red"}
"""By how a line begins; the first that fits."""


def run(values: Values) -> int:
    """Show edits as a unified diff."""
    user, name = supplied.users(values), supplied.words(values)[0]
    with supplied.opened(values) as m:
        text = m.diff(name, against=cli.text_of(values["against"]) or "base", user=user)
    if values["json"]:
        output.write(output.json_text({"name": name, "diff": text}) + "\n")
    elif text:
        output.write("".join(f"{_line(line)}\n" for line in text.removesuffix("\n").split("\n")))
    return 0


def _line(line: str) -> str:
    """Give one line harmless, and coloured on a terminal. Only line feeds part lines: a carriage return is shown."""
    style = next((style for begin, style in STYLES.items() if line.startswith(begin)), "")
    return output.style(output.clean(line), style) if style else output.clean(line)
