"""Logs in at a protected server with the Python SDK, lists its tools and calls one.

Usage: login_client.py REVISION URL

Prints one JSON line per step, as client.py does. The authorization server must redirect at once, or have a consent page with one form.
"""

import asyncio
import json
import sys
import warnings
from collections.abc import Awaitable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from browser import browse
from mcp import Client
from mcp.client.auth.oauth2 import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

REDIRECT = "http://127.0.0.1:33418/callback"
MODERN = "2026-07-28"

warnings.simplefilter("ignore")


class Memory:
    """Keeps tokens and the registration."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Browser:
    """Opens the page and reads where it redirects to."""

    location = ""

    async def open(self, url: str) -> None:
        self.location = await browse(url, until=REDIRECT)

    async def callback(self) -> AuthorizationCodeResult:
        sent = {name: values[0] for name, values in parse_qs(urlsplit(self.location).query).items()}
        return AuthorizationCodeResult(code=sent["code"], state=sent.get("state"), iss=sent.get("iss"))


async def main(revision: str, url: str) -> None:
    browser = Browser()
    metadata = OAuthClientMetadata(client_name="python-interop", redirect_uris=[REDIRECT])
    auth = OAuthClientProvider(url, metadata, Memory(), browser.open, browser.callback)
    http = httpx2.AsyncClient(auth=auth, timeout=30)
    client = Client(streamable_http_client(url, http_client=http), mode="auto" if revision == MODERN else "legacy", cache=None)
    if not await step("log in", client.__aenter__()):
        return
    await step("list", client.list_tools())
    called = await step("call", client.call_tool("echo", {"text": "hello"}))
    assert called is None or called.content[0].text == "hello"
    await client.__aexit__(None, None, None)


async def step(feature: str, doing: Awaitable[Any]) -> Any:
    try:
        done = await doing
        print(json.dumps({"feature": feature, "ok": True}), flush=True)
        return done
    except Exception as error:
        print(json.dumps({"feature": feature, "ok": False, "detail": repr(error)}), flush=True)
        return None


asyncio.run(main(*sys.argv[1:]))
