"""Help texts, laid out from the table of commands."""

from __future__ import annotations

from metier.cli.argv import Option
from metier.cli.table import COMMANDS, COMMON
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Command


def overview() -> str:
    """Give what `metier --help` prints."""
    names = max(len(command.name) for command in COMMANDS)
    rows = "\n".join(f"  {command.name.ljust(names)}  {command.summary}" for command in COMMANDS)
    return f"""metier: find, read, check, judge, resolve and show every skill on the machine; get new ones in, and keep them current

Usage: metier COMMAND [OPTIONS]

Commands:
{rows}

Options:
{_options((*COMMON, Option("--version", "show the version")))}

Examples:
  metier list                                which skills are there, and what they cost
  metier why pdf --agent codex               which copy of a skill wins, by that agent's rules
  metier scan ./their-skill                  what might it do?
  metier add anthropics/skills --skill pdf   get one in: fetched, scanned, decided about, locked
  metier update                              newer versions, merged with your edits
  metier plugin enable owner/repo            mirror a plugin's skills; what it changes waits for you
  metier check ./my-skill                    does mine meet the standard?

'metier COMMAND --help' says more about a command.
"""


def of_command(command: Command) -> str:
    """Give what `metier COMMAND --help` prints."""
    usage = f"Usage: metier {command.name} {command.operands}".rstrip()
    width = max((len(line) for line, _what in command.examples), default=0)
    examples = "\n".join(f"  {line.ljust(width)}    {what}" for line, what in command.examples)
    detail = f"\n{command.detail}\n" if command.detail else ""
    return f"""{usage} [OPTIONS]

{command.summary[0].upper()}{command.summary[1:]}.
{detail}
Options:
{_options((*command.options, *COMMON))}

Examples:
{examples}
"""


def _options(options: tuple[Option, ...]) -> str:
    shown = [(f"{o.short + ', ' if o.short else ''}{o.name} {o.metavar}".rstrip(), o) for o in options]
    size = max(len(left) for left, _option in shown)
    return "\n".join(f"  {left.ljust(size)}  {_described(option)}" for left, option in shown)


def _described(option: Option) -> str:
    return f"{option.help}: {', '.join(option.choices)}" if option.choices else option.help
