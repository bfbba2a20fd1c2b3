"""A client of the Python SDK against the stdio server on its command line.

Usage: client.py MODE COMMAND [ARGUMENT...]    MODE: legacy, auto or a modern revision

Prints one JSON line for every step that worked: initialised, listed, called, closed.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, stdio_client

# Everything that a line-framed pipe and an escaping writer can get wrong.
TEXT = 'line\nbreak, "quotes", back\\slash, \u00e9\u4e2d\U0001f980, \u2028, \x01'


def done(step: str, **facts: object) -> None:
    print(json.dumps({"step": step, **facts}), flush=True)


async def main(mode: str, command: str, *arguments: str) -> None:
    server = StdioServerParameters(command=command, args=list(arguments))
    async with Client(stdio_client(server), mode=mode) as client:
        done("initialised", revision=client.protocol_version, server=client.server_info and client.server_info.name)
        tools = await client.list_tools()
        assert "echo" in [tool.name for tool in tools.tools], tools
        done("listed")
        answer = await client.call_tool("echo", {"text": TEXT})
        assert not answer.is_error and answer.content[0].text == TEXT, answer
        done("called")
    done("closed")


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 30))
