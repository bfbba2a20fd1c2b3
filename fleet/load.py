"""A load of calls in a process of its own: `load.py JSON` prints what it measured as JSON.

Kept connections and raw sockets: on two cores a client that does more would be what is measured.
"""

import json
import socket
import sys
import threading
import time

LEGACY, MODERN = "2025-11-25", "2026-07-28"
PREFIX = "io.modelcontextprotocol/"


class Failed(Exception):
    """A connection that broke, or a status other than 200 and 202."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class Connection:
    def __init__(self, port):
        self.port, self.socket = port, None

    def post(self, fields, message):
        """The head and the body of the response, the body as it is framed."""
        self.send(fields, message)
        return self.response()

    def send(self, fields, message):
        body = json.dumps(message).encode()
        lines = [
            "POST /mcp HTTP/1.1",
            f"host: 127.0.0.1:{self.port}",
            "accept: application/json, text/event-stream",
            "content-type: application/json",
            f"content-length: {len(body)}",
            *(f"{name}: {value}" for name, value in fields.items()),
        ]
        try:
            if self.socket is None:
                self.socket = socket.create_connection(("127.0.0.1", self.port), 10)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        except OSError:
            self.close()
            raise Failed(0) from None

    def response(self):
        try:
            head, body = self.read()
        except OSError:
            self.close()
            raise Failed(0) from None
        status = int(head.split(b" ", 2)[1])
        if status not in (200, 202):
            self.close()
            raise Failed(status)
        return head, body

    def read(self):
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.receive()
        head, body = data.split(b"\r\n\r\n", 1)
        head = head.lower()
        if b"transfer-encoding: chunked" in head:
            while not body.endswith(b"0\r\n\r\n"):
                body += self.receive()
        elif b"content-length: " in head:
            length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
            while len(body) < length:
                body += self.receive()
        return head, body

    def receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise OSError("closed")
        return data

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


class Calls:
    """Calls of one client. Each kind of call has a connection of its own, as a balancer without affinity has it."""

    def __init__(self, port, revision):
        self.port, self.revision = port, revision
        self.connection = Connection(port)
        self.fields = {"mcp-protocol-version": revision}
        self.id = 0

    def begin(self):
        if self.revision == MODERN:
            self.fields |= {"mcp-method": "tools/call", "mcp-name": "echo"}
            return
        opening = Connection(self.port)
        info = {"name": "fleet", "version": "1"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info}
        head, _ = opening.post({}, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        session = head.split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
        self.fields["mcp-session-id"] = session
        opening.post(self.fields, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        opening.close()

    def call(self):
        self.ask()
        self.answered()

    def ask(self):
        self.id += 1
        params = {"name": "echo", "arguments": {"text": "here"}}
        if self.revision == MODERN:
            params["_meta"] = {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}}
        message = {"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params}
        self.connection.send(self.fields, message)

    def answered(self):
        _, body = self.connection.response()
        if b'"here"' not in body:
            raise Failed(200)

    def attempt(self):
        try:
            self.call()
        except Failed:
            return False
        return True


class Load:
    """Threads that call until a time. `patient` ones repeat what fails, and open a session anew that is lost."""

    def __init__(self, port, revision, threads, seconds, patient):
        self.port, self.revision, self.seconds, self.patient = port, revision, seconds, patient
        self.done, self.refused, self.lost = [], 0, 0
        self.threads = [threading.Thread(target=self.run) for _ in range(threads)]

    def run(self):
        calls = Calls(self.port, self.revision)
        end = time.monotonic() + self.seconds
        while not self.attempt(calls.begin):
            if time.monotonic() > end:
                return
        while (began := time.monotonic()) < end:
            while not self.attempt(calls.call, calls) and self.patient and time.monotonic() < end + 10:
                time.sleep(0.02)
            self.done.append((time.time(), time.monotonic() - began))

    def attempt(self, work, session=None):
        try:
            work()
            return True
        except Failed as failed:
            self.refused += 1
            if session and self.patient and failed.status in (400, 404):
                self.lost += 1
                session.__init__(self.port, self.revision)
                self.attempt(session.begin)
            return False

    def measure(self):
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()
        return {"done": self.done, "refused": self.refused, "lost": self.lost}


if __name__ == "__main__":
    print(json.dumps(Load(**json.loads(sys.argv[1])).measure()))
