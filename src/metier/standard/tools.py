"""The `allowed-tools` field: one value, written in any of the ways people write it, as a tuple of tools."""

from __future__ import annotations


def split_tools(value: object) -> tuple[tuple[str, ...], str]:
    """Give the tools a value names, and what is wrong with it ('' when nothing is)."""
    if value is None:
        return (), ""
    if isinstance(value, str):
        return _split(value)
    if isinstance(value, (list, tuple)):
        return _listed(value)
    return (), "allowed-tools must be a list, or text separated by spaces or commas"


def _listed(items: list[object] | tuple[object, ...]) -> tuple[tuple[str, ...], str]:
    tools: list[str] = []
    problem = ""
    for item in items:
        if not isinstance(item, str):
            problem = problem or "allowed-tools has an item that is not text"
            continue
        tool = " ".join(item.split())
        if tool:
            tools.append(tool)
            problem = problem or _balance(tool)
    return tuple(tools), problem


def _split(text: str) -> tuple[tuple[str, ...], str]:
    """Cut at spaces and commas outside parentheses: `Bash(git:*, npm run x)` is one tool (decision 19, ZE-16).

    After a parenthesis that never closes, all that follows stays one piece: it then names no tool, and grants nothing.
    """
    tools: list[str] = []
    start = depth = 0
    for at, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif depth == 0 and (char == "," or char.isspace()):
            tools.append(text[start:at])
            start = at + 1
    tools.append(text[start:])
    return tuple(" ".join(tool.split()) for tool in tools if tool.strip()), _balance(text)


def _balance(text: str) -> str:
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return "allowed-tools closes a parenthesis that it never opened"
    return "allowed-tools opens a parenthesis that it never closes" if depth else ""
