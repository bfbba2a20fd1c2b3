"""A client of the legacy revisions and one of 2026-07-28, as few lines as the checks need."""

import http.client
import itertools
import json
import threading
import time


class Refused(Exception):
    """A response with another status than expected."""


def events(response):
    """The events of a stream: pairs of an id and a message."""
    number, data = None, []
    while True:
        try:
            line = response.readline()
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            return
        if not line:
            return
        name, _, value = line.decode().rstrip("\r\n").partition(": ")
        if name == "id":
            number = value
        elif name == "data":
            data.append(value)
        elif not name:
            if data or number:
                text = "\n".join(data)
                yield number, json.loads(text) if text else None
            number, data = None, []


class Client:
    """A session at one address. Each request has a connection of its own, so that a balancer may choose."""

    REVISION = "2025-11-25"
    NUMBERS = itertools.count(1)

    def __init__(self, port, session=None, timeout=40):
        self.port, self.session, self.timeout, self.fields = port, session, timeout, {}

    def send(self, method, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        fields = {"accept": "application/json, text/event-stream", **self.fields, **headers}
        if self.session:
            fields |= {"mcp-session-id": self.session, "mcp-protocol-version": self.REVISION}
        if body is not None:
            fields["content-type"] = "application/json"
            body = json.dumps(body)
        connection.request(method, "/mcp", body, fields)
        response = connection.getresponse()
        response.connection = connection
        return response

    def number(self):
        return next(self.NUMBERS)

    def post(self, method, params=None, id=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if id is not None:
            message["id"] = id
        return self.send("POST", message)

    def hello(self):
        capabilities = {"elicitation": {}, "roots": {}}
        info = {"name": "fleet", "version": "1"}
        return {"protocolVersion": self.REVISION, "capabilities": capabilities, "clientInfo": info}

    def open(self):
        response = self.post("initialize", self.hello(), self.number())
        if response.status != 200:
            raise Refused(response.status)
        self.session = response.headers["mcp-session-id"]
        response.read()
        self.notify("notifications/initialized")

    def notify(self, method, params=None):
        response = self.post(method, params)
        response.read()
        if response.status != 202:
            raise Refused(response.status)

    def answer(self, id, result):
        response = self.send("POST", {"jsonrpc": "2.0", "id": id, "result": result})
        if response.status != 202:
            raise Refused(response.status)

    def set_level(self, level):
        response = self.post("logging/setLevel", {"level": level}, self.number())
        response.read()
        if response.status != 200:
            raise Refused(response.status)

    def status(self, method):
        params = self.hello() if method == "initialize" else None
        response = self.post(method, params, self.number())
        response.read()
        return response.status

    def call(self, name, arguments=None):
        id = self.number()
        response = self.post("tools/call", {"name": name, "arguments": arguments or {}}, id)
        if response.status != 200:
            raise Refused(response.status)
        if response.headers["content-type"] == "text/event-stream":
            messages = [message for _, message in events(response) if message and message.get("id") == id]
        else:
            messages = [json.loads(response.read())]
        if not messages:
            raise Refused("a stream without an answer")
        return messages[0]["result"]["content"][0]["text"]

    def end(self):
        response = self.send("DELETE")
        response.read()
        return response.status


class Stream:
    """An event stream, read by a thread."""

    def __init__(self, client, method, params):
        self.id = client.number()
        params = params | {"_meta": {"progressToken": self.id}}
        self.begin(client.post(method, params, self.id))

    @classmethod
    def get(cls, client, last=None):
        stream = cls.__new__(cls)
        fields = {"last-event-id": last} if last else {}
        stream.begin(client.send("GET", **fields))
        return stream

    def begin(self, response):
        if response.status != 200:
            raise Refused(response.status)
        self.response, self.messages, self.last_id, self.ended = response, [], None, False
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        for number, message in events(self.response):
            with self.changed:
                self.last_id = number or self.last_id
                if message:
                    self.messages.append(message)
                self.changed.notify()
        with self.changed:
            self.ended = True
            self.changed.notify()

    def next(self, wanted=lambda message: True, limit=20):
        """The next message that is wanted; those before it are dropped."""
        with self.changed:
            while True:
                while self.messages:
                    message = self.messages.pop(0)
                    if wanted(message):
                        return message
                if self.ended or not self.changed.wait(limit):
                    raise SystemExit("FAILED: a stream ended, or was silent for too long")

    def rest(self):
        """All messages until the end."""
        self.thread.join(40)
        return self.read()

    def read(self):
        with self.changed:
            messages, self.messages = self.messages, []
            return messages

    def close(self):
        socket = self.response.connection.sock
        if socket:
            socket.shutdown(2)
        self.thread.join(5)


class Modern:
    """2026-07-28: no session."""

    REVISION = "2026-07-28"

    def __init__(self, port, tasks=False, timeout=20):
        self.port, self.tasks, self.timeout = port, tasks, timeout

    def send(self, method, params):
        prefix = "io.modelcontextprotocol/"
        capabilities = {"elicitation": {"form": {}}}
        if self.tasks:
            capabilities["extensions"] = {f"{prefix}tasks": {}}
        meta = {f"{prefix}protocolVersion": self.REVISION, f"{prefix}clientCapabilities": capabilities}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": meta}}
        fields = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": self.REVISION,
            "mcp-method": method,
        }
        if "name" in params:
            fields["mcp-name"] = params["name"]
        if "taskId" in params:
            fields["mcp-name"] = params["taskId"]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        connection.request("POST", "/mcp", json.dumps(body), fields)
        response = connection.getresponse()
        response.connection = connection
        return response

    def request(self, method, params):
        response = self.send(method, params)
        if response.status != 200:
            raise Refused(f"{response.status} {response.read()!r}")
        if response.headers["content-type"] == "text/event-stream":
            return next(message for _, message in events(response) if message and message.get("id") == 1)
        return json.loads(response.read())

    def call(self, name, arguments=None):
        return self.request("tools/call", {"name": name, "arguments": arguments or {}})["result"]["content"][0]["text"]

    def begin(self, name, arguments=None):
        """The id of the task that a call becomes."""
        return self.request("tools/call", {"name": name, "arguments": arguments or {}})["result"]["taskId"]

    def task(self, id):
        return self.request("tasks/get", {"taskId": id})["result"]

    def until(self, id, status, limit=20):
        """The task once it has this status, and how long that took."""
        began = time.monotonic()
        while (task := self.task(id))["status"] != status:
            if time.monotonic() - began > limit:
                raise SystemExit(f"FAILED: a task is {task}, not {status}")
            time.sleep(0.1)
        return task, time.monotonic() - began

    def listen(self):
        stream = Stream.__new__(Stream)
        stream.begin(self.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        stream.next(lambda message: "acknowledged" in message.get("method", ""))
        return stream
