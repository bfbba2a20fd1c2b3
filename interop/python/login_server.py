"""A protected server of the Python SDK, whose tokens an authorization server issues.

Usage: login_server.py HOST:PORT ISSUER, Streamable HTTP at /mcp
"""

import asyncio
import sys

import jwt
import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

address, issuer = sys.argv[1:]
RESOURCE = f"http://{address}/mcp"


class Verifier:
    """Verifies tokens with the keys of the issuer."""

    keys = jwt.PyJWKClient(f"{issuer}/jwks")

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            key = await asyncio.to_thread(self.keys.get_signing_key_from_jwt, token)
            claims = jwt.decode(token, key, algorithms=["ES256"], audience=RESOURCE, issuer=issuer)
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims.get("scope", "").split(),
            expires_at=claims["exp"],
            resource=claims["aud"],
            subject=claims["sub"],
        )


server = MCPServer(
    "python-protected",
    token_verifier=Verifier(),
    auth=AuthSettings(
        issuer_url=issuer,
        resource_server_url=RESOURCE,
        required_scopes=["mcp"],
        validate_token_resource=True,
    ),
)


@server.tool()
def echo(text: str) -> str:
    """Returns its text."""
    return text


host, port = address.split(":")
uvicorn.run(server.streamable_http_app(), host=host, port=int(port), log_level="warning")
