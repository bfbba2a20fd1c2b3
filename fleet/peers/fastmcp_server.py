"""One process of a server of FastMCP: `fastmcp_server.py PORT`."""

import logging
import sys

from fastmcp import FastMCP

server = FastMCP("fleet")


@server.tool
def echo(text: str) -> str:
    """Says the same."""
    return text


logging.disable(logging.WARNING)
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), path="/mcp", show_banner=False, log_level="error")
