"""What a request got wrong, as errors of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from metier.standard.names import encodable, one_line

if TYPE_CHECKING:
    from metier.errors import MetierError
    from metier.mcp.rules import Refusal

_SHOWN = 500


def not_served(uri: str, what: str = "resource") -> MCPError:
    """Say that nothing is served at a URI."""
    return MCPError(INVALID_PARAMS, f"no {what} is served at {shown(uri)}")


def refused(refusal: Refusal | MetierError) -> MCPError:
    """Give a refusal of metier's, with its code."""
    data = {"code": refusal.code, "hint": shown(refusal.hint)}
    return MCPError(INVALID_PARAMS, shown(refusal.message), data)


def invalid(message: str) -> MCPError:
    """Say what is wrong with a request."""
    return MCPError(INVALID_PARAMS, shown(message))


def internal() -> MCPError:
    """Say that the fault is ours, and nothing else: what went wrong inside is no business of a client's."""
    return MCPError(INTERNAL_ERROR, "the server failed")


def shown(text: str) -> str:
    """Give a stranger's words as they may stand in an error: one line, and not too long."""
    line = encodable(one_line(text))
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
