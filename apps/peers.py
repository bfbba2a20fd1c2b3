"""Drives the servers with clients of the Python SDK, a session of each era over standard streams and over HTTP.

Usage: peers.py FOLDER, the one with the programs
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

FOLDER = Path(sys.argv[1]).resolve()
PROGRAM = ".exe" if os.name == "nt" else ""


async def main() -> None:
    for mode in ("auto", "legacy"):
        async with asyncio.timeout(30):
            await notes(mode)
        async with asyncio.timeout(30):
            await gateway(mode)
        print(f"a client in mode {mode}: ok", flush=True)


def program(name: str) -> str:
    return str(FOLDER / f"{name}{PROGRAM}")


async def notes(mode: str) -> None:
    """One person over standard streams."""
    asked, logs, steps, updated = [], [], [], asyncio.Queue()

    async def elicit(_, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"sure": True})

    async def log(params):
        logs.append(params.level)

    async def notify(message):
        if message.method == "notifications/resources/updated":
            updated.put_nowait(message.params.uri)

    async def progress(done, total, message):
        steps.append((done, total, message))

    command = StdioServerParameters(command=program("notes"), args=[":memory:"])
    callbacks = {"elicitation_callback": elicit, "logging_callback": log, "message_handler": notify}
    level = None if mode == "legacy" else "info"
    async with Client(stdio_client(command), mode=mode, log_level=level, **callbacks) as client:
        assert client.server_info.title == "Notes" and client.instructions, client.server_info
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"add", "search", "delete", "reindex", "picture"}, tools
        limit = tools["search"].input_schema["properties"]["limit"]
        assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 100, 10), limit
        assert tools["search"].annotations.read_only_hint, tools["search"]

        if mode == "legacy":
            await client.set_logging_level("info")
            await client.subscribe_resource("note:///index")
        note = {"title": "Milk", "body": "buy", "priority": "high", "tag": "shop"}
        answer = await client.call_tool("add", note)
        assert answer.structured_content == {"id": 1, **note}, answer
        assert logs == ["info"], logs
        if mode == "legacy":
            assert await updated.get() == "note:///index"
        else:
            async with client.listen(resource_subscriptions=["note:///index"]) as changes:
                await client.call_tool("add", {"title": "Tea", "body": "buy"})
                assert (await anext(changes)).uri == "note:///index"
        for bad in ({"title": " ", "body": ""}, {"title": 5, "body": ""}, {"body": ""}):
            try:
                assert (await client.call_tool("add", bad)).is_error, bad
            except MCPError as error:
                assert error.code == -32602, error

        [text] = (await client.read_resource("note:///1")).contents
        assert text.text == "# Milk\n\nbuy" and text.mime_type == "text/markdown", text
        template = types.ResourceTemplateReference(uri="note:///{id}")
        ids = await client.complete(template, {"name": "id", "value": "1"})
        assert ids.completion.values == ["1"], ids
        prompt = await client.get_prompt("summarize", {"tag": "shop", "words": "20"})
        assert [message.content.type for message in prompt.messages] == ["text", "resource"], prompt
        picture = await client.call_tool("picture", {})
        assert [block.type for block in picture.content] == ["text", "image"], picture

        await client.call_tool("reindex", {"steps": 2}, progress_callback=progress)
        assert steps[-1] == (2, 2, "table 2"), steps
        answer = await client.call_tool("delete", {"id": 1})
        assert answer.structured_content == {"deleted": True} and asked == ["Really delete “Milk”?"], (answer, asked)


async def gateway(mode: str) -> None:
    """Two people over HTTP, and a request without a token."""
    server = await asyncio.create_subprocess_exec(
        program("gateway"), ":memory:", "127.0.0.1:0", stdout=asyncio.subprocess.PIPE
    )
    try:
        url = (await server.stdout.readline()).decode().strip()

        def person(name: str) -> Client:
            http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {name}-token"}, timeout=30)
            return Client(streamable_http_client(url, http_client=http), mode=mode)

        async with person("ada") as ada, person("bob") as bob:
            note = (await ada.call_tool("add", {"title": "Secret", "body": "x"})).structured_content
            assert (await bob.call_tool("search", {})).structured_content == {"notes": []}
            assert (await bob.call_tool("delete", {"id": note["id"]})).is_error
            try:
                await bob.read_resource(f"note:///{note['id']}")
                raise AssertionError("bob reads the note of ada")
            except MCPError:
                pass
            assert (await ada.call_tool("search", {})).structured_content == {"notes": [note]}
        async with httpx2.AsyncClient() as http:
            refused = await http.post(url, json={})
            assert refused.status_code == 401 and refused.headers["www-authenticate"], refused
    finally:
        server.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(server.wait(), 10) == 0


asyncio.run(main())
