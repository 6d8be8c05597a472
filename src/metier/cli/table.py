"""Every command with its options, help and examples, in one table: help, completion and the reference come from here."""

from __future__ import annotations

from metier.cli.argv import Command, Option
from metier.model import SCOPES

COMMON = (
    Option("--json", "print one JSON document and nothing else"),
    Option("--root", "look in exactly this folder instead of the configured ones (may be repeated)", "DIR", repeat=True),
    Option("--agent", "see the world as this agent does (codex, claude-code, gemini-cli, ...)", "NAME"),
    Option("-C", "work as if started in this folder", "DIR"),
    Option("--help", "show this help", short="-h"),
)

COMMANDS = (
    Command(
        "tour", "see the whole pipeline at work, on this machine and on bundled examples",
        examples=(("metier tour", "finished in seconds, leaves nothing behind"),),
    ),
    Command(
        "list", "list the skills that are visible here",
        options=(
            Option("--scope", "only this scope", "S", choices=SCOPES),
            Option("--category", "only this category", "C"),
            Option("--all", "everything that was found, with the reason it is not visible"),
            Option("--digests", "compute the digest of each skill"),
        ),
        examples=(
            ("metier list", "what is there, from which scope, at which token cost"),
            ("metier list --all", "also what is hidden, shadowed or broken, and why"),
            ("metier list --agent codex --json", "what Codex sees, for a script"),
        ),
        detail="A broken skill is never silently absent: it is reported with its place, a code and a hint.",
    ),
    Command(
        "categories", "list the categories of skills",
        examples=(("metier categories", "names, descriptions and counts"),),
    ),
    Command(
        "show", "show a skill's instructions, or one of its files", "NAME",
        options=(Option("--file", "show this file of the skill", "PATH"),),
        examples=(
            ("metier show pdf", "the body and the names of its files"),
            ("metier show pdf --file references/forms.md", "one linked file"),
            ("metier show user:pdf", "the copy of one scope; a path or plugin:name works too"),
        ),
    ),
    Command(
        "check", "hold skills against the Agent Skills standard", "PATH...",
        options=(Option("--strict", "warnings count as faults too"),),
        examples=(
            ("metier check ./my-skill", "one skill"),
            ("metier check --strict skills/", "everything below a folder, as a publisher wants it"),
        ),
        detail="Exit code 1 when any skill has a fault. Each rule has a page in docs/reference/rules.md.",
    ),
    Command(
        "why", "say which copy of a skill wins, and why each other copy does not", "NAME",
        examples=(
            ("metier why pdf", "which rule, setting, gate or folder decides"),
            ("metier why pdf --agent claude-code", "by that agent's own folders and precedence"),
        ),
    ),
    Command(
        "new", "write a new skill that passes a strict check", "NAME",
        options=(
            Option("--dir", "put it in this folder (default: .agents/skills of the project)", "DIR"),
            Option("--description", "what it does and when to use it", "TEXT"),
        ),
        examples=(("metier new release-notes", "makes .agents/skills/release-notes/SKILL.md"),),
    ),
    Command(
        "enable", "show a skill again", "NAME",
        examples=(("metier enable pdf", "writes a rule to your configuration"),),
    ),
    Command(
        "disable", "hide a skill", "NAME",
        examples=(("metier disable pdf", "writes a rule to your configuration"),),
    ),
    Command(
        "doctor", "show what is configured, what is missing and what is wrong",
        options=(Option("--agents", "list every agent metier knows, with its folders"),),
        examples=(("metier doctor", "folders, agents, index, tools and problems"),),
    ),
    Command(
        "completion", "print a completion script for a shell", "SHELL",
        examples=(('eval "$(metier completion bash)"', "bash, zsh or fish"),),
    ),
)  # fmt: skip


def command_named(name: str) -> Command | None:
    """Find a command."""
    return next((command for command in COMMANDS if command.name == name), None)
