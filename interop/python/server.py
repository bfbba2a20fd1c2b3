"""The features of the `everything` example, as a server of the Python SDK.

Usage: server.py [--http HOST:PORT], Streamable HTTP at /mcp and HTTP+SSE at /sse
"""

import asyncio
import json
import sys
from typing import Any

import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import PromptsListChanged, ResourceUpdated, ToolsListChanged
from starlette.responses import Response
from starlette.routing import Mount, Route

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
PAGE = 10
MODERN = "2026-07-28"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

bus = InMemorySubscriptionBus()
subscribed: set[str] = set()
level = "debug"


def schema(*required: str, **properties: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}, "required": list(required)}


NONE = schema()
TOOLS = {
    "echo": schema("text", text="string"),
    "add": schema("a", "b", a="number", b="number"),
    "sleep": schema("ms", ms="integer"),
    "list_roots": NONE,
    "elicit_url": NONE,
    "touch_resource": schema("uri", uri="string"),
    "test_simple_text": NONE,
    "test_image_content": NONE,
    "test_audio_content": NONE,
    "test_embedded_resource": NONE,
    "test_multiple_content_types": NONE,
    "test_tool_with_logging": NONE,
    "test_logging_tool": NONE,
    "test_error_handling": NONE,
    "test_tool_with_progress": NONE,
    "test_sampling": schema("prompt", prompt="string"),
    "test_elicitation": schema("message", message="string"),
    "test_elicitation_sep1034_defaults": NONE,
    "test_elicitation_sep1330_enums": NONE,
    "test_input_required_result_multi_round": NONE,
    "test_input_required_result_multiple_inputs": NONE,
    "test_trigger_tool_change": NONE,
    "test_trigger_prompt_change": NONE,
}
PROMPTS = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
    "test_input_required_result_prompt": [],
}


def text(value: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=value)])


def image() -> types.ImageContent:
    return types.ImageContent(data=PNG, mime_type="image/png")


def embedded(uri: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type="text/plain", text="embedded"))


def page(items: list[Any], params: types.PaginatedRequestParams | None) -> tuple[list[Any], str | None]:
    cursor = params.cursor if params and params.cursor else "0"
    if not cursor.isdigit():
        raise MCPError(-32602, "unknown cursor")
    end = int(cursor) + PAGE
    return items[int(cursor) : end], str(end) if end < len(items) else None


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    output = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
    tools = [
        types.Tool(name=name, description=name, input_schema=shape, output_schema=output if name == "add" else None)
        for name, shape in TOOLS.items()
    ]
    tools, cursor = page(tools, params)
    return types.ListToolsResult(tools=tools, next_cursor=cursor)


async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
    names = ["static-text", "static-binary", "watched-resource"]
    resources, cursor = page([types.Resource(uri=f"test://{name}", name=name) for name in names], params)
    return types.ListResourcesResult(resources=resources, next_cursor=cursor)


async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
    def arguments(names: list[str]) -> list[types.PromptArgument]:
        return [types.PromptArgument(name=name, required=True) for name in names]

    prompts = [types.Prompt(name=name, description=name, arguments=arguments(names)) for name, names in PROMPTS.items()]
    prompts, cursor = page(prompts, params)
    return types.ListPromptsResult(prompts=prompts, next_cursor=cursor)


async def read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://static-binary":
        contents: Any = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    elif uri == "test://static-text":
        contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text="This is the content of the static text resource.")
    elif uri == "test://watched-resource":
        contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text="watched")
    elif uri.startswith("test://template/") and uri.endswith("/data"):
        which = uri.split("/")[3]
        data = {"id": which, "templateTest": True, "data": f"Data for ID: {which}"}
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))
    else:
        raise MCPError(-32602 if ctx.protocol_version == MODERN else -32002, "Resource not found", {"uri": uri})
    return types.ReadResourceResult(contents=[contents])


async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            content: Any = types.TextContent(text="This is a simple prompt for testing.")
        case "test_prompt_with_arguments":
            content = types.TextContent(text=f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")
        case "test_prompt_with_embedded_resource":
            content = embedded(given["resourceUri"])
        case "test_prompt_with_image":
            content = image()
        case "test_input_required_result_prompt":
            answers = params.input_responses or {}
            if "user_context" not in answers:
                return types.InputRequiredResult(input_requests={"user_context": form("What for?", schema("context", context="string"))})
            content = types.TextContent(text=f"For {answers['user_context'].content}")
        case _:
            raise MCPError(-32602, f"unknown prompt {params.name}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def form(message: str, requested: dict[str, Any]) -> types.ElicitRequest:
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=requested))


async def ask(ctx: Any, params: types.CallToolRequestParams, question: Any, kind: type) -> Any:
    """The client's answer, or None when the call has to end with the question."""
    if ctx.protocol_version == MODERN:
        return (params.input_responses or {}).get("question")
    return await ctx.session.send_request(question, kind)


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
    given = params.arguments or {}
    shape = TOOLS.get(params.name)
    if shape is None:
        raise MCPError(-32602, f"unknown tool {params.name}")
    numbers = {"number", "integer"}
    for name in shape["required"]:
        if name not in given or (shape["properties"][name]["type"] in numbers) != isinstance(given[name], int | float):
            return types.CallToolResult(content=[types.TextContent(text=f"wrong argument {name}")], is_error=True)

    async def put(question: Any, kind: type, answer: Any) -> Any:
        reply = await ask(ctx, params, question, kind)
        return types.InputRequiredResult(input_requests={"question": question}) if reply is None else text(answer(reply))

    match params.name:
        case "echo":
            return text(given["text"])
        case "add":
            total = {"sum": given["a"] + given["b"]}
            return types.CallToolResult(content=[types.TextContent(text=json.dumps(total))], structured_content=total)
        case "sleep":
            await asyncio.sleep(given["ms"] / 1000)
            return text("slept")
        case "list_roots":
            return await put(types.ListRootsRequest(), types.ListRootsResult, lambda reply: "\n".join(str(root.uri) for root in reply.roots))
        case "elicit_url":
            url = types.ElicitRequestURLParams(
                message="Authorize", url="https://example.com/authorize", elicitation_id=None if ctx.protocol_version == MODERN else "1"
            )
            return await put(types.ElicitRequest(params=url), types.ElicitResult, lambda reply: reply.action)
        case "touch_resource":
            await bus.publish(ResourceUpdated(uri=given["uri"]))
            if given["uri"] in subscribed:
                await ctx.session.send_resource_updated(given["uri"])
            return text("touched")
        case "test_simple_text":
            return text("This is a simple text response for testing.")
        case "test_image_content":
            return types.CallToolResult(content=[image()])
        case "test_audio_content":
            return types.CallToolResult(content=[types.AudioContent(data=WAV, mime_type="audio/wav")])
        case "test_embedded_resource":
            return types.CallToolResult(content=[embedded("test://embedded-resource")])
        case "test_multiple_content_types":
            return types.CallToolResult(content=[types.TextContent(text="several"), image(), embedded("test://mixed-content-resource")])
        case "test_tool_with_logging" | "test_logging_tool":
            for message in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
                if ctx.protocol_version == MODERN or LEVELS.index("info") >= LEVELS.index(level):
                    await ctx.session.send_log_message("info", message, related_request_id=ctx.request_id)
            return text("logged")
        case "test_error_handling":
            return types.CallToolResult(content=[types.TextContent(text="This tool intentionally returns an error")], is_error=True)
        case "test_tool_with_progress":
            for progress in [0, 50, 100]:
                await ctx.session.report_progress(progress, 100)
            return text("done")
        case "test_sampling":
            message = types.SamplingMessage(role="user", content=types.TextContent(text=given["prompt"]))
            question = types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))
            return await put(question, types.CreateMessageResult, lambda reply: f"LLM response: {reply.content.text}")
        case "test_elicitation":
            question = form(given["message"], schema("username", "email", username="string", email="string"))
            return await put(question, types.ElicitResult, lambda reply: f"User response: {reply.action} {json.dumps(reply.content)}")
        case "test_elicitation_sep1034_defaults":
            defaults = {"name": "John Doe", "age": 30, "score": 95.5, "status": "active", "verified": True}
            kinds = {"name": "string", "age": "integer", "score": "number", "status": "string", "verified": "boolean"}
            properties: dict[str, Any] = {name: {"type": kinds[name], "default": value} for name, value in defaults.items()}
            properties["status"]["enum"] = ["active", "inactive", "pending"]
            question = form("Defaults", {"type": "object", "properties": properties})
            return await put(question, types.ElicitResult, lambda reply: json.dumps(reply.content))
        case "test_elicitation_sep1330_enums":
            choices = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]
            properties = {
                "untitledSingle": {"type": "string", "enum": ["a", "b"]},
                "titledSingle": {"type": "string", "oneOf": choices},
                "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
                "titledMulti": {"type": "array", "items": {"anyOf": choices}},
            }
            question = form("Enums", {"type": "object", "properties": properties})
            return await put(question, types.ElicitResult, lambda reply: json.dumps(reply.content))
        case "test_input_required_result_multi_round":
            answers = params.input_responses or {}
            if params.request_state is None:
                return types.InputRequiredResult(input_requests={"step1": form("Step 1", schema("name", name="string"))}, request_state="first")
            if params.request_state == "first" and "step1" in answers:
                return types.InputRequiredResult(input_requests={"step2": form("Step 2", schema("color", color="string"))}, request_state="second")
            return text("both steps")
        case "test_input_required_result_multiple_inputs":
            answers = params.input_responses or {}
            message = types.SamplingMessage(role="user", content=types.TextContent(text="Greet"))
            wanted = {
                "user_name": form("Your name?", schema("name", name="string")),
                "greeting": types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100)),
                "client_roots": types.ListRootsRequest(),
            }
            return text("all three") if wanted.keys() <= answers.keys() else types.InputRequiredResult(input_requests=wanted)
        case "test_trigger_tool_change":
            await bus.publish(ToolsListChanged())
            if ctx.protocol_version != MODERN:
                await ctx.session.send_tool_list_changed()
            return text("changed")
        case "test_trigger_prompt_change":
            await bus.publish(PromptsListChanged())
            if ctx.protocol_version != MODERN:
                await ctx.session.send_prompt_list_changed()
            return text("changed")


async def complete(ctx: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
    typed = params.argument.value
    if isinstance(params.ref, types.PromptReference):
        suffix = f"-{params.context.arguments['arg2']}" if params.context and params.context.arguments else ""
        found = [value + suffix for value in ["paris", "park", "party"] if value.startswith(typed)]
    else:
        found = [str(n) for n in range(1, 151) if str(n).startswith(typed)]
    return types.CompleteResult(completion=types.Completion(values=found[:100], total=len(found), has_more=len(found) > 100))


async def subscribe(ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
    subscribed.add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    subscribed.discard(str(params.uri))
    return types.EmptyResult()


async def set_level(ctx: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
    global level
    level = params.level
    return types.EmptyResult()


async def main() -> None:
    server = Server(
        "python-everything",
        version="1.0.0",
        instructions="Every feature once.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=ListenHandler(bus),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=set_level,
    )
    options = server.create_initialization_options(NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True))
    if sys.argv[1:2] == ["--http"]:
        await serve_http(server, options, sys.argv[2])
        return
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, options)


async def serve_http(server: Server, options: Any, address: str) -> None:
    sse = SseServerTransport("/messages/")

    async def connect(request: Any) -> Response:
        async with sse.connect_sse(request.scope, request.receive, request._send) as (reader, writer):
            await server.run(reader, writer, options)
        return Response()

    # Sessions over HTTP make their options by themselves, without list changes.
    server.create_initialization_options = lambda *_, **__: options
    routes = [Route("/sse", connect), Mount("/messages/", app=sse.handle_post_message)]
    app = server.streamable_http_app(custom_starlette_routes=routes)
    host, _, port = address.rpartition(":")
    await uvicorn.Server(uvicorn.Config(app, host=host, port=int(port), log_level="warning")).serve()


asyncio.run(main())
