"""Lists all commands by name, in the order of `metier --help`: what each is for, and which file it
is in.
"""

from __future__ import annotations

from importlib import import_module

from metier.cli.argv import Option
from metier.cli.terminal import COLOUR_CHOICES
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.cli.argv import CommandRow

COMMON = (
    Option("--json", "print one JSON document and nothing else"),
    Option(
        "--root",
        "look in exactly this folder instead of the configured ones (may be repeated)",
        "DIR",
        repeat=True,
    ),
    Option(
        "--agent", "see the world as this agent does (codex, claude-code, gemini-cli, ...)", "NAME"
    ),
    Option("-C", "work as if started in this folder", "DIR"),
    Option("--color", "use colour", "WHEN", choices=COLOUR_CHOICES),
    Option("--no-pager", "print long output at once, not through $PAGER"),
    Option("--help", "show this help", short="-h"),
)


SUMMARIES = {
    "tour": "see what metier does, on your own skills and on bundled examples",
    "list": "list your skills: where they are, their state and their cost",
    "categories": "list the categories of skills",
    "show": "show a skill's instructions, or one of its files",
    "check": "check skills against the Agent Skills standard",
    "scan": "scan skills for anything dangerous",
    "observe": "run a skill among decoys, and see what it does",
    "trust": "approve, block and quarantine skills",
    "policy": "show what your organisation allows, and which line decides",
    "waive": "accept a scan finding in one skill, or list what you accepted",
    "audit": "show who approved or blocked what, or verify the log",
    "tree": "show which skills a skill needs, and which need it",
    "why": "explain which copy of a skill an agent uses, and why not the others",
    "find": "find the skills that fit a task",
    "prompt": "print the catalogue of skills for a model, within a token budget",
    "expand": "turn /commands and $mentions in a message into what a model gets",
    "setup": "show what a skill still needs, and ask for its secrets",
    "run": "run a skill's script, or a code skill, in a sandbox",
    "mcp": "serve your skills over MCP, or configure a client for it",
    "web": "see, judge and change your skills in a browser",
    "hub": "serve skills to a team, with roles, review and signatures",
    "add": "fetch, scan, approve, lock and install skills",
    "remove": "uninstall a skill",
    "update": "update installed skills and keep your edits",
    "outdated": "list installed skills that have a newer version",
    "sync": "install exactly what the lock file says",
    "diff": "show your edits to an installed skill",
    "merge": "resolve an update that conflicts with your edits",
    "history": "list the versions of an installed skill",
    "rollback": "restore an earlier version of a skill",
    "plugin": "install plugins and keep your edits to their skills",
    "review": "accept or reject updates and changes that are waiting for you",
    "search": "search remote repositories and registries for skills",
    "tap": "choose the repositories that search looks in",
    "adopt": "start tracking a skill you already have",
    "gc": "delete unused cached versions",
    "lock": "import or export lock files of other tools, or write an SBOM",
    "pack": "pack a skill into a reproducible archive",
    "publish": "write an index of skills that any web server can host",
    "push": "push a skill to a hub or an OCI registry",
    "login": "log in to a hub",
    "logout": "log out of a hub",
    "sign": "sign a skill with your key",
    "secrets": "list, set or delete the secrets that skills use",
    "tools": "print tool schemas for a program that hosts an agent",
    "usage": "show which skills you use, what they cost, and which you don't use",
    "new": "create a new skill",
    "enable": "show a hidden skill again",
    "disable": "hide a skill",
    "doctor": "show what is configured, missing or wrong",
    "status": "show who is here, what is installed and what needs attention",
    "agents": "list the agents on this machine and how many skills each sees",
    "init": "get a project ready for skills",
    "config": "show or change your settings",
    "info": "show what a source offers, before you add it",
    "path": "print where a skill is",
    "open": "open a skill's folder",
    "edit": "edit a skill's SKILL.md",
    "version": "print the version",
    "completion": "print a completion script for your shell",
}
"""What `metier --help` says of each command: it imports none of them."""
ALIASES = {
    "i": "add",
    "install": "add",
    "ls": "list",
    "rm": "remove",
    "uninstall": "remove",
    "upgrade": "update",
}
"""Names that people try first, and what they mean."""
FILES = {
    "agents": "open",
    "diff": "history",
    "edit": "open",
    "gc": "lock",
    "info": "open",
    "init": "config",
    "path": "open",
    "adopt": "add",
    "categories": "list",
    "disable": "list",
    "enable": "list",
    "logout": "login",
    "merge": "update",
    "new": "check",
    "outdated": "update",
    "publish": "pack",
    "remove": "add",
    "rollback": "history",
    "sign": "trust",
    "sync": "lock",
    "tap": "search",
    "tools": "prompt",
    "version": "completion",
    "waive": "trust",
}
"""Commands that lie in the file of another; every other one has a file of its own name."""


def command_named(name: str) -> CommandRow | None:
    """Find a command by its name or by one that people try first; only its own file is imported."""
    name = ALIASES.get(name, name)
    if name not in SUMMARIES:
        return None
    module = import_module(f"metier.cli.commands.{FILES.get(name, name)}")
    found: CommandRow = next(row for row in module.ROWS if row.name == name)
    return found


def all_commands() -> Iterator[CommandRow]:
    """Give the row of every command, which imports them all."""
    return filter(None, map(command_named, SUMMARIES))
