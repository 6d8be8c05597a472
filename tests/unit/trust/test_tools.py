"""Tools that quarantine cuts off, however their names are written."""

from __future__ import annotations

import pytest

from metier.model import Trust
from metier.trust.tools import DENIED_TOOLS, denial, escalations

CUT = [
    *DENIED_TOOLS,  # ZE-22
    "Bash",
    "BASH",
    "bAsH",
    "Bash(git:*)",
    "Bash (git:*)",
    "Bash(",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "multiedit",  # ZE-23, gap
    "WebFetch",
    "web_fetch",
    "webfetch",
    "WEBFETCH",
    "web-fetch",
    "WebSearch",
    "deletePath",
    "DeletePath",
    "delete-path",
    "deletepath",
    "createDirectory",
    "create_directory_tool",
    "memorySave",
    "memory.save",
    "mcp__fs__write_file",
    "filesystem_write_file",
    "fs.write_file",
    "fs:write_file",
    "fs/writeFile",
    "writefile",
    "server_bash",
    "x_edit",
    "mcp__docs__read",
    "mcp__*",
    "*",
    "",
    "()",
    "shell",
    "run_in_terminal",
    "execute_command",
    "str_replace_based_edit_tool",
    "apply_patch",
    "bash_20250124",
    "bash2",
    "text_editor_20250728",
    "http_request",
    "runcommand",
    "memorysave",
    "createdirectory",
    "createfile",
    "\uff22ash",
    "ba\u200bsh",
    "b\u0430sh",
    "re\u0430d",
    "bash\n",
    " bash ",
    "a" * 5000,
    "a" * 201,
    "Read*",
    "re*d",
    "mcpDocsRead",
    "McpDocsRead",
    "\u200b" * 1600 + "read",  # too long, a pattern, MCP, read too late
]
KEPT = [
    "Read",
    "read_file",
    "Grep",
    "Glob",
    "list_directory",
    "search_files",
    "view",
    "credit_report",
    "prefetcher",
    "Read(src/**)",
    "TodoRead",
    "a" * 200,
    "re\u200bad",
    "re\ufe0fad",
]


@pytest.mark.parametrize("tool", CUT)
def test_quarantine_denies_every_spelling_of_a_tool_that_acts(
    tool: str,
) -> None:  # ZE-22, ZE-23, easily missed 10
    assert denial(tool, "quarantined")


@pytest.mark.parametrize("tool", KEPT)
def test_quarantine_leaves_the_tools_that_only_look(tool: str) -> None:
    assert not denial(tool, "quarantined")


@pytest.mark.parametrize("tool", [*CUT, *KEPT])
def test_a_blocked_skill_has_no_tools_at_all(tool: str) -> None:  # ZE-22
    assert denial(tool, "blocked")


@pytest.mark.parametrize("level", ["builtin", "own", "trusted", "verified", "community"])
@pytest.mark.parametrize("tool", ["bash", None, "mcp__fs__write_file"])
def test_better_levels_have_all_their_tools(tool: str | None, level: Trust) -> None:
    assert not denial(tool, level, ["mcp__fs__write_file"])


@pytest.mark.parametrize(
    ("tool", "level", "expected"),
    [
        ("bash", "quarantined", "bash denied (trust=quarantined)"),
        ("Bash(git:*)", "quarantined", "Bash(git:*) denied (trust=quarantined)"),
        ("read", "quarantined", ""),
        ("read", "blocked", "all tools blocked (trust=blocked)"),
        (
            None,
            "quarantined",
            "tool execution denied (trust=quarantined)",
        ),  # a fenced block has no tool id
        ("", "quarantined", "tool execution denied (trust=quarantined)"),
        (None, "blocked", "tool execution denied (trust=blocked)"),
        (None, "trusted", ""),
    ],
)
def test_a_denial_is_put_in_the_known_words(
    tool: str | None, level: Trust, expected: str
) -> None:  # ZE-22
    assert expected == denial(tool, level)


@pytest.mark.parametrize(
    ("tool", "registered", "expected"),
    [
        ("lookup_issue", [], False),
        ("lookup_issue", ["lookup_issue"], True),
        ("LookupIssue", ["lookup_issue"], True),
        ("lookup_issue(x:*)", ["lookup_issue"], True),
        ("tracker:lookup_issue", ["lookup_issue"], True),
        ("tracker_lookup_issue", ["mcp__tracker__lookup_issue"], True),
        ("lookup_issue", ["tracker.lookup_issue"], True),
        ("other_issue", ["lookup_issue"], False),
        ("read", ["mcp__fs__read"], False),  # one word alone may be the agent's own tool
        ("read", ["read"], True),
    ],
)
def test_every_registered_mcp_tool_is_denied_with_or_without_its_prefix(
    tool: str, registered: list[str], expected: bool
) -> None:  # ZE-22
    assert expected == bool(denial(tool, "quarantined", registered))


def test_escalations_are_the_declared_tools_that_the_trust_denies() -> None:  # ZE-9, ZE-23
    declared = ["Read", "Bash(git:*)", "lookup_issue", " ", "WebFetch"]

    found = escalations(iter(declared), "quarantined", iter(["lookup_issue"]))

    assert ["Bash(git:*)", "lookup_issue", "WebFetch"] == [one.tool for one in found]
    assert {"quarantined"} == {one.level for one in found}
    assert "WebFetch denied (trust=quarantined)" == found[-1].message


def test_all_declared_tools_of_a_blocked_skill_are_escalations() -> None:  # ZE-23
    assert ["Read", "Grep"] == [one.tool for one in escalations(["Read", "Grep"], "blocked")]
    assert () == escalations(["Bash"], "community")
