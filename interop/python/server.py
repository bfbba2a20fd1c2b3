"""A stdio server of the Python SDK with one tool."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("python-echo", version="1.0.0")


@server.tool()
def echo(text: str) -> str:
    """Answers with its argument."""
    return text


server.run("stdio")
