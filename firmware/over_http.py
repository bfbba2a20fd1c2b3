"""The conversation with the server over HTTP, whose connections a program forwards to the board: see `run --http`."""

import http.client
import json
import socket
import time

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def converse(client: "Client", port: int) -> None:
    """The revisions with a handshake, faults, requests in pieces, many calls on one connection, and an answer that is too long."""
    stateless(client)
    faults(client)
    in_pieces(port)
    expectation(port)
    for number in range(200):
        assert client.call("echo", {"text": f"{number} \u00e9"}, _meta=MODERN) == f"{number} \u00e9"
    status, answer = client.message("tools/call", {"name": "echo", "arguments": {"text": "x" * 1200}, "_meta": MODERN})
    assert (status, answer["error"]["code"]) == (200, -32603), "it does not fit"


class Client:
    """A client that sends each message in a POST, on one connection while the server keeps it."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.number = 0

    def send(self, body: bytes, path: str = "/mcp", method: str = "POST", **fields: str) -> tuple[int, dict | None]:
        """Returns the status and the message of the response. A field of the head is an argument with `_` for `-`."""
        self.number += 1
        head = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        head.update({name.replace("_", "-"): value for name, value in fields.items()})
        self.connection.request(method, path, body, head)
        response = self.connection.getresponse()
        content = response.read()
        assert not content or response.headers["content-type"] == "application/json", response.headers
        return response.status, json.loads(content) if content else None

    def message(self, method: str, params: dict, **fields: str) -> tuple[int, dict]:
        if "_meta" in params:
            fields.update(mcp_protocol_version="2026-07-28", mcp_method=method)
            if "name" in params:
                fields["mcp_name"] = params["name"]
        body = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        return self.send(json.dumps(body).encode(), **fields)

    def ask(self, method: str, **params: object) -> dict:
        status, answer = self.message(method, params)
        assert status == 200, (status, answer)
        return answer["result"]

    def call(self, name: str, arguments: dict, **params: object) -> str:
        return self.ask("tools/call", name=name, arguments=arguments, **params)["content"][0]["text"]


def stateless(client: Client) -> None:
    """The revisions with a handshake, of which the server remembers nothing."""
    version = "2025-11-25"
    begun = client.ask(
        "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "driver", "version": "1"}
    )
    assert begun["protocolVersion"] == version, begun
    initialized = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    assert client.send(initialized, mcp_protocol_version=version) == (202, None)
    status, called = client.message("tools/call", {"name": "lamp", "arguments": {"on": True}}, mcp_protocol_version=version)
    assert (status, called["result"]["content"][0]["text"]) == (200, "on"), called


def faults(client: Client) -> None:
    """Requests that are refused, each by its status."""
    for expected, body, path, method, fields in [
        (404, PING, "/other", "POST", {}),
        (405, None, "/mcp", "GET", {}),
        (403, PING, "/mcp", "POST", {"host": "attacker.example"}),
        (415, PING, "/mcp", "POST", {"content_type": "text/plain"}),
        (400, PING, "/mcp", "POST", {"mcp_protocol_version": "1999-01-01"}),
        (400, PING, "/mcp", "POST", {"content_length": "+40"}),
        (411, iter([PING]), "/mcp", "POST", {}),
        (413, b" " * 5000, "/mcp", "POST", {}),
        (431, PING, "/mcp", "POST", {"x": "y" * 3000}),
        (400, b"nonsense", "/mcp", "POST", {}),
        (400, PING, "/mcp", "POST", {"bad name": "x"}),
        # The header of a modern request differs from its body.
        (400, modern_body("tools/list"), "/mcp", "POST", {"mcp_protocol_version": "2026-07-28", "mcp_method": "ping"}),
        # A tool that does not answer at once.
        (503, modern_body("tools/call", name="wait"), "/mcp", "POST", WAIT),
        # A batch, for which there is no memory.
        (400, b"[" + PING + b"]", "/mcp", "POST", {"mcp_protocol_version": "2025-03-26"}),
        (200, PING, "/mcp", "POST", {"mcp_protocol_version": "2025-11-25"}),
    ]:
        status, answer = client.send(body, path, method, **fields)
        assert status == expected, (status, answer, expected, path, fields)


WAIT = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call", "mcp_name": "wait"}


def modern_body(method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN}}).encode()


def in_pieces(port: int) -> None:
    """A request in pieces, while another connection is in use, and two requests at once."""
    body = modern_body("server/discover")
    head = (
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nmcp-method: server/discover\r\n"
        f"mcp-protocol-version: 2026-07-28\r\ncontent-length: {len(body)}\r\n"
    )
    request = head.encode() + b"\r\n" + body
    last = head.encode() + b"connection: close\r\n\r\n" + body
    with socket.create_connection(("127.0.0.1", port), timeout=30) as pieces:
        for start in range(0, len(request), 100):
            pieces.sendall(request[start : start + 100])
            time.sleep(0.01)
        pieces.sendall(request + last)
        answers = pieces.makefile("rb").read()
    assert answers.count(b"HTTP/1.1 200") == answers.count(b'"supportedVersions"') == 3, answers


def expectation(port: int) -> None:
    """A body that the client sends when it is asked for it."""
    head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nmcp-protocol-version: 2025-11-25\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        answers = connection.makefile("rb")
        connection.sendall(f"{head}expect: 100-continue\r\nconnection: close\r\ncontent-length: {len(PING)}\r\n\r\n".encode())
        assert answers.readline() + answers.readline() == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(PING)
        answer = answers.read()
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"}"), answer
