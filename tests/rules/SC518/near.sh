claude mcp list
