"""The part of the table of commands that serves skills to agents."""

from __future__ import annotations

from metier.cli.argv import Command, Option

SERVE = (
    Command(
        "mcp", "serve the skills to any agent that speaks MCP, or tell a client about it", "[config]",
        options=(
            Option("--http", "over HTTP instead of standard input and output; with config: where the client finds it", "HOST:PORT"),
            Option("--token-file", "take the token from this file; needed to listen beyond this machine", "FILE"),
            Option("--allow-host", "with --http: a further name that it is called by (may be repeated)", "NAME", repeat=True),
            Option("--no-scripts", "leave out skills that bring scripts: for a client that cannot run them"),
            Option("--for", "with config: the client (claude-code, codex, cursor, vscode, ...)", "CLIENT"),
            Option("--write", "with config: put it into the client's own file, with a backup"),
            Option("--project", "with config: the file of this project instead of yours"),
            Option("--dry-run", "with --write: say what would be done, and do nothing"),
            Option("--yes", "do not ask"),
        ),
        examples=(
            ("metier mcp", "over standard input and output, as clients start it"),
            ("metier mcp config --for claude-code", "what to put into that client's file"),
            ("metier mcp config --for codex --write", "put it there; what was there is kept beside it"),
            ("metier mcp --http 127.0.0.1:7331", "for all clients of this machine, with a token"),
            ("metier mcp config --for cursor --http 127.0.0.1:7331 --write", "the address and the token of that server"),
        ),
        detail="Agents get what may be used, and nothing else; see the settings of 'mcp'. Over HTTP each request needs the token,\n"
               "which is made once and kept in mcp/token below METIER_HOME; it is never printed.",
        private=True,
    ),
)  # fmt: skip
