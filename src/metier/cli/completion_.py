"""`metier completion`."""

from __future__ import annotations

from metier.cli import output
from metier.cli.table import COMMANDS, COMMON
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values

_BASH = """_metier() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
}}
complete -o default -F _metier metier
"""


def run(values: Values) -> int:
    """Print a completion script made from the table of commands."""
    operands = values["operands"]
    assert isinstance(operands, list)
    shell = operands[0]
    if shell not in {"bash", "zsh", "fish"}:
        raise UsageError(f"there is no completion for '{shell}'", hint="choose one of: bash, zsh, fish")
    script = _fish() if shell == "fish" else _bash() if shell == "bash" else _zsh()
    output.write(output.json_text({"shell": shell, "script": script}) + "\n" if values["json"] else script)
    return 0


def _bash() -> str:
    commands = " ".join(command.name for command in COMMANDS)
    cases = "\n".join(
        f'    {command.name}) COMPREPLY=($(compgen -W "{_words(command.name)}" -- "$word")) ;;' for command in COMMANDS
    )
    return _BASH.format(commands=commands, cases=cases)


def _zsh() -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash()


def _fish() -> str:
    lines = ["complete -c metier -f"]
    for command in COMMANDS:
        lines.append(f"complete -c metier -n __fish_use_subcommand -a {command.name} -d '{_escaped(command.summary)}'")
        for option in (*command.options, *COMMON):
            if option.name.startswith("--"):
                seen = f"__fish_seen_subcommand_from {command.name}"
                lines.append(f"complete -c metier -n '{seen}' -l {option.name[2:]} -d '{_escaped(option.help)}'")
    return "\n".join(lines) + "\n"


def _words(name: str) -> str:
    command = next(command for command in COMMANDS if command.name == name)
    return " ".join(option.name for option in (*command.options, *COMMON))


def _escaped(text: str) -> str:
    return text.replace("'", "\\'")
