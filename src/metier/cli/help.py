"""Help texts, laid out from the table of commands."""

from __future__ import annotations

from metier.cli.argv import Option
from metier.cli.output import columns, style
from metier.cli.table import COMMON, SUMMARIES
from metier.cli.terminal import HELP_COLUMNS, cells, fold, width
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import CommandRow


EXAMPLES = [
    ("metier list", "the skills you have, where they are and what they cost"),
    ("metier why pdf --agent codex", "which copy Codex uses, and why"),
    ("metier scan ./their-skill", "what might it do?"),
    ("metier add anthropics/skills --skill pdf", "fetch, scan, approve, lock and install"),
    ("metier update", "get new versions and keep your edits"),
    ("metier check ./my-skill", "does it meet the standard?"),
]


GROUPS = {
    "Look around": "tour list show find why agents categories tree usage path open edit status doctor",
    "Install and update": "search tap info add update outdated remove sync diff merge history "
    "rollback review plugin adopt lock gc",
    "Check and trust": "check scan observe trust waive policy audit",
    "Use with an agent": "enable disable setup secrets run prompt expand mcp web tools",
    "Write and publish": "new pack sign publish push login logout hub",
    "Set up": "init config completion version",
}
"""The commands as people look for them. One that is in no group is listed last."""


def overview() -> str:
    """Give what `metier --help` prints."""
    return f"""{_fitted("metier: find, check, trust, run and update the skills of all your AI agents")}

Usage: metier COMMAND [OPTIONS]

{_commands()}
Options:
{_options((*COMMON, Option("--version", "show the version", short="-V")))}
Examples:
{_columns(EXAMPLES)}
'metier COMMAND --help' says more about a command.
"""


def _commands() -> str:
    """List all commands in their groups, in one column."""
    grouped = {title: names.split() for title, names in GROUPS.items()}
    known = {name for names in grouped.values() for name in names}
    grouped["More"] = [name for name in SUMMARIES if name not in known]
    size = max(map(len, SUMMARIES))
    return "\n".join(
        f"{style(f'{title}:', 'bold')}\n{_columns([(name.ljust(size), SUMMARIES[name]) for name in names])}"
        for title, names in grouped.items()
        if names
    )


def command_help(command: CommandRow) -> str:
    """Give what `metier COMMAND --help` prints."""
    usage = f"Usage: metier {command.name} {command.operands}".rstrip()
    summary = SUMMARIES[command.name]
    detail = f"\n{_fitted(command.detail)}\n" if command.detail else ""
    return f"""{_fitted(f"{usage} [OPTIONS]")}

{_fitted(f"{summary[0].upper()}{summary[1:]}.")}
{detail}
Options:
{_options((*command.options, *COMMON))}
Examples:
{_columns([(_continued(one), what) for one, what in command.examples.items()], "    ")}"""


def _continued(example: str) -> str:
    """Continue a command that is too wide on further lines, as a shell reads it."""
    room = min(width(), HELP_COLUMNS) - len("  ")
    if cells(example) <= room:
        return example
    out, *options = example.split(" --")
    last = out
    for option in options:
        longer = f"{last} --{option}"
        if cells(f"{longer} \\") <= room:
            out, last = f"{out} --{option}", longer
        else:
            out, last = f"{out} \\\n    --{option}", f"  --{option}"
    return out


def _columns(rows: list[tuple[str, str]], gap: str = "  ") -> str:
    return columns(rows, gap, min(width(), HELP_COLUMNS))


def _fitted(text: str) -> str:
    """Fold lines to what help takes; a list of verbs is parted between two of them."""
    room = min(width(), HELP_COLUMNS)
    parted = text.replace("|", "| ") if cells(text.partition("\n")[0]) > room else text
    return fold(parted, room).replace("| ", "|")


def _options(options: tuple[Option, ...]) -> str:
    rows = []
    for option in options:
        short = f"{option.short}, " if option.short else ""
        choices = f": {', '.join(option.choices)}" if option.choices else ""
        left = f"{short}{option.name} {option.metavar}".rstrip()
        rows.append((left, f"{option.help}{choices}"))
    return _columns(rows)
