"""Answer every call of a tool with so many letters through the official SDK: what any server made
with it costs. LETTERS.
"""

import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

ANSWER = types.CallToolResult(content=[types.TextContent(type="text", text="x" * int(sys.argv[1]))])


async def called(_context: Any, _asked: types.CallToolRequestParams) -> types.CallToolResult:
    """Give the one answer."""
    return ANSWER


async def main() -> None:
    """Serve until the client leaves."""
    server: Server[Any] = Server("floor", on_call_tool=called)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


anyio.run(main)
