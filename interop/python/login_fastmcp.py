"""A protected server of FastMCP, whose tokens an authorization server issues.

Usage: login_fastmcp.py HOST:PORT ISSUER, Streamable HTTP at /mcp

pydantic writes the issuer with a slash at its end, where the metadata of the authorization server has none.
"""

import sys

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from pydantic import AnyHttpUrl

address, issuer = sys.argv[1:]

verifier = JWTVerifier(
    jwks_uri=f"{issuer}/jwks",
    issuer=issuer,
    audience=f"http://{address}/mcp",
    algorithm="ES256",
    required_scopes=["mcp"],
)
server = FastMCP(
    "fastmcp-protected",
    auth=RemoteAuthProvider(
        token_verifier=verifier,
        authorization_servers=[AnyHttpUrl(issuer)],
        base_url=f"http://{address}",
    ),
)


@server.tool()
def echo(text: str) -> str:
    """Returns its text."""
    return text


host, port = address.split(":")
server.run(transport="http", host=host, port=int(port), path="/mcp", show_banner=False, log_level="warning")
