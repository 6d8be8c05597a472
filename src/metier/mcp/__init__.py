"""The MCP door: the library's skills for any agent that speaks the Model Context Protocol. It
decides nothing itself.
"""
