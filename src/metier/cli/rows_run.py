"""The row of `metier run` in the table of commands."""

from __future__ import annotations

from metier.cli.argv import Command, Option

RUN = (
    Command(
        "run", "run a skill's script, or a code skill, inside its sandbox", "NAME [SCRIPT|TASK...]",
        options=(
            Option("--dry-run", "show what it would be allowed, in words, and run nothing"),
            Option("--yes", "say yes to this run, and to installing what the script declares"),
            Option("--network", "let it reach the network, where it declares that it needs to"),
            Option("--read", "lend it this file or folder to read (may be repeated)", "PATH", repeat=True),
            Option("--write", "lend it this file or folder to change (may be repeated)", "PATH", repeat=True),
            Option("--timeout", "end it after so many seconds (run.seconds says how long otherwise)", "SECONDS"),
            Option("--act", "agree to what a destructive code skill does, in words that name it", "WORDS"),
            Option("--raw", "hand on its output as the bytes they are; only where it is lent no secret"),
            Option("--unsandboxed", "run it without a sandbox; exists only with run.allow_unsandboxed, and is noted down"),
        ),
        examples=(
            ("metier run pdf scripts/fill.py --dry-run", "what it would be allowed, before anything happens"),
            ("metier run pdf scripts/fill.py --read form.pdf -- form.pdf", "lend it one file, and name that file to it"),
            ("metier run report --write out/ -- --format html", "its only script, with a folder to write to"),
            ("metier run weather 'will it rain in Oslo'", "a code skill: the words are its task"),
        ),
        detail="The skill's folder can be read, a scratch folder written; there is no network, no home and no other file unless\n"
               "lent. The exit code is the script's own, or of a code skill 0 for an answer, 1 for none; 124: out of time;\n"
               "125: metier refused, or no sandbox works here; 137: it met another limit; 2 with 'error:', before anything ran:\n"
               "the command was put wrongly. --dry-run ends with 1 where a run would be refused. What a script prints is cleaned\n"
               "of secrets and of what steers a terminal.",
    ),
)  # fmt: skip
