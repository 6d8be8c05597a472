"""Runs `metier completion`, which prints a script for a shell, and answers what such a script asks:
which words may stand here. `metier version` is here too.

The scripts know nothing themselves. On each Tab they call `metier __complete WORDS...`, so what they
offer is what this version, this machine and this folder have.
"""

from __future__ import annotations

from metier.cli.argv import CommandRow, Values
from metier.cli.output import answer
from metier.cli.table import ALIASES, COMMON, SUMMARIES, command_named
from metier.errors import MetierError, UsageError, closest
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.cli.argv import Option

SKILL_WORDS = frozenset({"NAME", "[NAME]", "NAME...", "[NAME...]", "NAME-or-PATH"})
"""Operands that are the name of a skill."""
NAMES_OTHERS = frozenset({"secrets", "new"})
"""Commands whose NAME is that of a secret, or of a skill that is not there yet."""
_BASH = """_metier() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(metier __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _metier metier
"""
_ZSH = """#compdef metier
_metier() {
  local -a found
  found=("${(@f)$(metier __complete "${(@)words[2,$CURRENT]}" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -a found || _files
}
compdef _metier metier
"""
_FISH = """function __metier_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (metier __complete $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c metier -f -a '(__metier_complete)'
"""
_POWERSHELL = """Register-ArgumentCompleter -Native -CommandName metier -ScriptBlock {
  param($word, $line, $cursor)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if (-not $word) { $words += '' }
  metier __complete @words 2>$null | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH, "powershell": _POWERSHELL}


def run(values: Values) -> None:
    """Print a completion script."""
    shell = values.word
    if shell not in SCRIPTS:
        near = closest(shell, SCRIPTS)
        meant = f"did you mean {near}? " if near else ""
        raise UsageError(
            f"there is no completion for '{shell}'",
            hint=f"{meant}choose one of: {', '.join(SCRIPTS)}",
        )
    script = SCRIPTS[shell]
    answer(values, {"shell": shell, "script": script}, script, raw=True)


def complete(words: list[str]) -> list[str]:
    """Give the words that may stand where the last one does; none where files may."""
    *before, current = words or [""]
    try:
        found = _candidates(before, current)
    except MetierError:  # a machine that cannot be read has nothing to offer
        found = ()
    return sorted({one for one in found if one.startswith(current)})


def _candidates(before: list[str], current: str) -> Iterable[str]:
    command = command_named(before[0]) if before else None
    if command is None:
        return () if before else [*SUMMARIES, *ALIASES, "--help", "--version"]
    options = (*command.options, *COMMON)
    asked = next(
        (one for one in options if one.metavar and before[-1] in (one.name, one.short)), None
    )
    if asked is not None:
        return _values(asked)
    if current.startswith("-"):
        return [one.name for one in options]
    wanted = command.operands.split()
    first = wanted[0].strip("[]") if wanted else ""
    verbs = first.split("|") if first.islower() else []  # what is to be filled in is in capitals
    at = len(_operands(before[1:], options))
    if verbs and at == 0:
        return verbs
    if command.name == "completion":
        return SCRIPTS
    if command.name == "waive" and at == 0:
        return _rule_codes()
    if command.name == "config":
        return _setting_names() if at == 1 else ()
    names_skills = command.name in {"trust", "plugin"} or _operand_at(wanted, at) in SKILL_WORDS
    return _skill_names() if names_skills and command.name not in NAMES_OTHERS else ()


def _operand_at(wanted: list[str], at: int) -> str:
    """Give what is to be filled in here; the last one again where that may be repeated."""
    if at < len(wanted):
        return wanted[at]
    return wanted[-1] if wanted and wanted[-1].rstrip("]").endswith("...") else ""


def _operands(words: list[str], options: Iterable[Option]) -> list[str]:
    """Leave out options and their values."""
    takes = {name for one in options if one.metavar for name in (one.name, one.short) if name}
    return [
        word
        for at, word in enumerate(words)
        if not word.startswith("-") and (at == 0 or words[at - 1] not in takes)
    ]


def _values(option: Option) -> Iterable[str]:
    if option.choices:
        return option.choices
    if option.name in {"--agent", "--to", "--beside"}:
        from metier.discover.agents import AGENTS

        everyone = ["all"] if option.name == "--agent" else []
        return [*(agent.id for agent in AGENTS), *everyone]
    if option.name == "--for":
        from metier.mcp.clients import CLIENTS

        return [client.id for client in CLIENTS]
    return _skill_names() if option.name == "--skill" else ()


def _skill_names() -> list[str]:
    from metier.library import open_library

    with open_library() as m:
        return [card.name for card in m.skills(all=True) if " " not in card.name]


def _setting_names() -> Iterable[str]:
    from metier.library import open_library

    with open_library() as m:
        return m.settings_given(defaults=True)


def _rule_codes() -> list[str]:
    from metier.scan.ruleset import RULES

    return list(RULES)


def run_version(values: Values) -> None:
    """Print the version."""
    from metier import __version__

    answer(values, {"version": __version__}, f"metier {__version__}\n")


ROWS = (
    CommandRow(
        "version",
        examples={"metier version": "the same as metier --version"},
        run=run_version,
    ),
    CommandRow(
        "completion",
        operands="SHELL",
        examples={
            'eval "$(metier completion bash)"': "in ~/.bashrc; zsh, fish and powershell work too"
        },
        detail="It knows commands, options, skills, agents, clients, scopes, settings and rules.",
        run=run,
    ),
)
