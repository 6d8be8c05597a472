claude mcp add helper -- npx -y helper-mcp
