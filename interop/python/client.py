"""Drives a server through every feature that the Python SDK knows.

Usage: client.py REVISION COMMAND [ARGUMENT...], or REVISION URL; a path of /sse is HTTP+SSE

Prints one JSON line per feature: {"feature": .., "ok": true} or false with a "detail", or {"feature": .., "lacks": reason}.
"""

import asyncio
import base64
import json
import sys
import time
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

# Everything that a line-framed pipe and an escaping writer can get wrong.
TEXT = 'line\nbreak, "quotes", back\\slash, \u00e9\u4e2d\U0001f980, \u2028, \x01'
ROOT = "file:///srv/interop"
MODERN = "2026-07-28"
LACKS = {
    "skills": "the SDK knows no skills",
    "directories": "the SDK knows no skills",
    "tasks": "the SDK knows no tasks",
    "task-input": "the SDK knows no tasks",
    "task-errors": "the SDK knows no tasks",
    "task-cancel": "the SDK knows no tasks",
    "task-listen": "the SDK knows no tasks",
}

warnings.simplefilter("ignore")


class Driver:
    """One connection, what its server asked and told, and the features in the order in which they are tried."""

    def __init__(self, revision: str, command: list[str]) -> None:
        self.revision = revision
        self.modern = revision == MODERN
        self.action = "accept"
        self.asked: list[types.ElicitRequestParams] = []
        self.logs: list[types.LoggingMessageNotificationParams] = []
        self.told: list[types.ServerNotification] = []
        self.http = command[0].startswith("http") and not command[0].endswith("/sse")
        self.requests = 0
        self.client = Client(
            reach(command, self.count),
            # Where the server speaks one revision only, the SDK probes for the modern era and falls back.
            mode="legacy" if revision == "2025-11-25" else "auto",
            client_info=types.Implementation(name="python-interop", version="1.0.0"),
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            list_roots_callback=self.roots_callback,
            logging_callback=self.log,
            message_handler=self.tell,
            cache=None,
        )

    async def count(self, _: httpx2.Request) -> None:
        self.requests += 1

    async def elicit(self, _: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params)
        if self.action != "accept" or params.mode == "url":
            return types.ElicitResult(action=self.action)
        return types.ElicitResult(action="accept", content=fill(params.requested_schema))

    async def sample(self, _: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        prompt = params.messages[0].content_as_list[0].text
        return types.CreateMessageResult(role="assistant", content=types.TextContent(text=f"heard {prompt}"), model="none")

    async def roots_callback(self, _: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=ROOT, name="interop")])

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logs.append(params)

    async def tell(self, message: types.ServerNotification | Exception) -> None:
        if not isinstance(message, Exception):
            self.told.append(message)

    async def negotiate(self) -> None:
        client = self.client
        assert client.protocol_version == self.revision, client.protocol_version
        assert client.server_info and client.server_info.name and client.server_info.version, client.server_info
        declared = client.server_capabilities
        assert declared.tools and declared.resources and declared.prompts, declared
        assert client.instructions, "no instructions"

    async def ping(self) -> None:
        await self.client.send_ping()

    async def lists(self) -> None:
        tools = await self.pages(lambda cursor: self.client.list_tools(cursor=cursor), "tools", at_least=2)
        assert "echo" in [tool.name for tool in tools]
        resources = await self.pages(lambda cursor: self.client.list_resources(cursor=cursor), "resources")
        assert "test://static-text" in [resource.uri for resource in resources]
        templates = await self.pages(lambda cursor: self.client.list_resource_templates(cursor=cursor), "resource_templates")
        assert "test://template/{id}/data" in [template.uri_template for template in templates]
        prompts = await self.pages(lambda cursor: self.client.list_prompts(cursor=cursor), "prompts")
        assert "test_prompt_with_arguments" in [prompt.name for prompt in prompts]
        await refused(self.client.list_tools(cursor="no such cursor"), -32602)

    async def pages(self, page: Callable[[str | None], Awaitable[Any]], member: str, at_least: int = 1) -> list[Any]:
        items, cursor, count = [], None, 0
        while count == 0 or cursor:
            answer = await page(cursor)
            items += getattr(answer, member)
            cursor = answer.next_cursor
            count += 1
        assert count >= at_least, f"{member}: {count} pages"
        return items

    async def call(self) -> None:
        assert await self.text("echo", text=TEXT) == TEXT
        assert await self.text("test_simple_text") == "This is a simple text response for testing."
        answers = await asyncio.gather(*(self.text("echo", text=str(n)) for n in range(50)))
        assert answers == [str(n) for n in range(50)], answers

    async def content(self) -> None:
        [image] = (await self.tool("test_image_content")).content
        assert base64.b64decode(image.data).startswith(b"\x89PNG") and image.mime_type == "image/png", image
        if self.revision >= "2025-03-26":
            [audio] = (await self.tool("test_audio_content")).content
            assert base64.b64decode(audio.data).startswith(b"RIFF") and audio.mime_type == "audio/wav", audio
        [embedded] = (await self.tool("test_embedded_resource")).content
        assert embedded.resource.uri == "test://embedded-resource", embedded
        kinds = [block.type for block in (await self.tool("test_multiple_content_types")).content]
        assert kinds == ["text", "image", "resource"], kinds

    async def structured(self) -> None:
        answer = await self.tool("add", a=1, b=2)
        assert answer.structured_content == {"sum": 3}, answer

    async def errors(self) -> None:
        answer = await self.client.call_tool("test_error_handling", {})
        assert answer.is_error and answer.content[0].text, answer
        answer = await outcome(self.client.call_tool("add", {"a": "one"}))
        assert answer == -32602 or answer.is_error, answer
        answer = await outcome(self.client.call_tool("no_such_tool", {}))
        assert answer == -32602 or answer.is_error, answer
        await refused(self.client.read_resource("test://no-such-resource"), -32602 if self.modern else -32002)
        await refused(self.client.get_prompt("no_such_prompt"), -32602)

    async def progress(self) -> None:
        seen: list[tuple[float, float | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        answer = await self.client.call_tool("test_tool_with_progress", {}, progress_callback=hear)
        assert not answer.is_error, answer
        assert seen == [(0, 100), (50, 100), (100, 100)], seen

    async def cancel(self) -> None:
        sleeping = asyncio.create_task(self.text("sleep", ms=60_000))
        await asyncio.sleep(0.2)
        sleeping.cancel()
        try:
            await sleeping
        except asyncio.CancelledError:
            pass
        assert await self.text("echo", text="awake") == "awake"
        if not self.http:
            return
        # A client over HTTP resumes the stream of the cancelled call, a second later and at most once more. Then it is quiet.
        await asyncio.sleep(2.6)
        requests = self.requests
        await asyncio.sleep(1.6)
        assert self.requests == requests, f"{self.requests - requests} requests after a cancellation"

    async def logging(self) -> None:
        if self.modern:
            await self.tool("test_logging_tool")
            assert not self.logs, "logs without a level"
            await self.client.call_tool("test_logging_tool", {}, meta={"io.modelcontextprotocol/logLevel": "debug"})
        else:
            await self.client.set_logging_level("error")
            await self.tool("test_tool_with_logging")
            assert not self.logs, "logs below the level"
            await self.client.set_logging_level("info")
            await self.tool("test_tool_with_logging")
        await until(lambda: len(self.logs) >= (1 if self.modern else 3))
        assert self.logs[0].level == "info" and self.logs[0].data, self.logs

    async def elicit_form(self) -> None:
        assert "ada@example.com" in await self.text("test_elicitation", message="Who?")
        assert self.asked.pop().message == "Who?"
        self.action = "decline"
        await self.tool("test_elicitation", message="Who?")
        self.action = "accept"
        if self.revision >= "2025-11-25":
            assert "John Doe" in await self.text("test_elicitation_sep1034_defaults")
            await self.text("test_elicitation_sep1330_enums")

    async def elicit_url(self) -> None:
        await self.text("elicit_url")
        asked = self.asked.pop()
        assert asked.mode == "url" and asked.url == "https://example.com/authorize", asked

    async def sampling(self) -> None:
        assert await self.text("test_sampling", prompt="a poem") == "LLM response: heard a poem"

    async def roots(self) -> None:
        assert ROOT in await self.text("list_roots")
        await self.client.send_roots_list_changed() if not self.modern else None

    async def rounds(self) -> None:
        self.asked.clear()
        await self.text("test_input_required_result_multi_round")
        assert len(self.asked) == 2, self.asked
        await self.text("test_input_required_result_multiple_inputs")
        prompt = await self.client.get_prompt("test_input_required_result_prompt")
        assert prompt.messages, prompt

    async def resources(self) -> None:
        [text] = (await self.client.read_resource("test://static-text")).contents
        assert text.text == "This is the content of the static text resource.", text
        [blob] = (await self.client.read_resource("test://static-binary")).contents
        assert base64.b64decode(blob.blob).startswith(b"\x89PNG"), blob

    async def templates(self) -> None:
        [text] = (await self.client.read_resource("test://template/123/data")).contents
        assert json.loads(text.text) == {"id": "123", "templateTest": True, "data": "Data for ID: 123"}, text

    async def subscribe(self) -> None:
        watched = "test://watched-resource"
        if self.modern:
            async with self.client.listen(resource_subscriptions=[watched]) as subscription:
                await self.text("touch_resource", uri=watched)
                event = await anext(subscription)
                assert event.uri == watched, event
            return
        updates = lambda: [note for note in self.told if note.method == "notifications/resources/updated"]
        await self.client.subscribe_resource(watched)
        await self.text("touch_resource", uri=watched)
        await until(updates)
        assert [note.params.uri for note in updates()] == [watched], updates()
        await self.client.unsubscribe_resource(watched)
        await self.text("touch_resource", uri=watched)
        await self.client.send_ping()
        assert len(updates()) == 1, updates()

    async def changes(self) -> None:
        if self.modern:
            async with self.client.listen(tools_list_changed=True, prompts_list_changed=True) as subscription:
                for tool, kind in [("test_trigger_tool_change", "ToolsListChanged"), ("test_trigger_prompt_change", "PromptsListChanged")]:
                    await self.text(tool)
                    event = await anext(subscription)
                    assert type(event).__name__ == kind, event
            return
        for kind in ["tool", "prompt"]:
            await self.text(f"test_trigger_{kind}_change")
            await until(lambda: any(note.method == f"notifications/{kind}s/list_changed" for note in self.told))

    async def prompts(self) -> None:
        [message] = (await self.client.get_prompt("test_simple_prompt")).messages
        assert message.role == "user" and message.content.text, message
        [message] = (await self.client.get_prompt("test_prompt_with_arguments", {"arg1": "hello", "arg2": "world"})).messages
        assert message.content.text == "Prompt with arguments: arg1='hello', arg2='world'", message
        messages = (await self.client.get_prompt("test_prompt_with_embedded_resource", {"resourceUri": "test://a"})).messages
        assert messages[0].content.resource.uri == "test://a", messages
        messages = (await self.client.get_prompt("test_prompt_with_image")).messages
        assert messages[0].content.type == "image", messages

    async def complete(self) -> None:
        prompt = types.PromptReference(name="test_prompt_with_arguments")
        answer = await self.client.complete(prompt, {"name": "arg1", "value": "par"})
        assert answer.completion.values == ["paris", "park", "party"], answer
        if self.revision >= "2025-06-18":
            answer = await self.client.complete(prompt, {"name": "arg1", "value": "pari"}, {"arg2": "x"})
            assert answer.completion.values == ["paris-x"], answer
        template = types.ResourceTemplateReference(uri="test://template/{id}/data")
        answer = await self.client.complete(template, {"name": "id", "value": ""})
        assert len(answer.completion.values) == 100 and answer.completion.has_more, answer

    async def text(self, name: str, **arguments: Any) -> str:
        return "".join(block.text for block in (await self.tool(name, **arguments)).content)

    async def tool(self, name: str, **arguments: Any) -> types.CallToolResult:
        answer = await self.client.call_tool(name, arguments)
        assert not answer.is_error, answer
        return answer


FEATURES: dict[str, Callable[[Driver], Awaitable[None]]] = {
    "negotiate": Driver.negotiate,
    "ping": Driver.ping,
    "list": Driver.lists,
    "call": Driver.call,
    "content": Driver.content,
    "structured": Driver.structured,
    "errors": Driver.errors,
    "progress": Driver.progress,
    "cancel": Driver.cancel,
    "logging": Driver.logging,
    "elicit": Driver.elicit_form,
    "elicit-url": Driver.elicit_url,
    "sampling": Driver.sampling,
    "roots": Driver.roots,
    "rounds": Driver.rounds,
    "resources": Driver.resources,
    "templates": Driver.templates,
    "subscribe": Driver.subscribe,
    "changes": Driver.changes,
    "prompts": Driver.prompts,
    "complete": Driver.complete,
}


def reach(command: list[str], count: Callable[[httpx2.Request], Awaitable[None]]) -> Any:
    """The transport to a command or a URL; what it sends to a URL is counted."""
    if not command[0].startswith("http"):
        return stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    if command[0].endswith("/sse"):
        return sse_client(command[0])
    http = httpx2.AsyncClient(event_hooks={"request": [count]}, timeout=httpx2.Timeout(30, read=300))
    return streamable_http_client(command[0], http_client=http)


def fill(schema: dict[str, Any]) -> dict[str, Any]:
    """What a person would answer who takes every default."""

    def value(field: dict[str, Any]) -> Any:
        if "default" in field:
            return field["default"]
        kind = field.get("type")
        options = field.get("enum") or [option["const"] for option in field.get("oneOf", [])]
        if kind == "array":
            items = field["items"]
            return [(items.get("enum") or [option["const"] for option in items["anyOf"]])[0]]
        if options:
            return options[0]
        if kind == "string":
            return "ada@example.com" if field.get("format") == "email" or "mail" in json.dumps(field) else "ada"
        return True if kind == "boolean" else 1

    return {name: value({"title": name, **field}) for name, field in schema["properties"].items()}


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def outcome(request: Awaitable[Any]) -> Any:
    """The answer, or the code of the refusal."""
    try:
        return await request
    except MCPError as error:
        return error.code


async def refused(request: Awaitable[Any], code: int) -> None:
    answer = await outcome(request)
    assert answer == code, f"expected {code}, got {answer}"


def report(feature: str, **facts: object) -> None:
    print(json.dumps({"feature": feature, **facts}), flush=True)


async def main(revision: str, *command: str) -> None:
    driver = Driver(revision, list(command))
    async with driver.client:
        for name, reason in LACKS.items():
            report(name, lacks=reason)
        for name, feature in FEATURES.items():
            try:
                async with asyncio.timeout(30):
                    await feature(driver)
                report(name, ok=True)
            except Exception as error:
                report(name, ok=False, detail=f"{type(error).__name__}: {error}")
        began = time.monotonic()
    # The SDK waits two seconds for a server to end by itself before it ends it.
    took = time.monotonic() - began
    report("close", ok=took < 1.9, detail=f"{took:.1f} s")


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 180))
