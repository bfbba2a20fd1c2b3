"""The operations of clients. Each is noted in the history, with what was wrong in its answer."""

import http.client
import json
import time

from client import Client, Modern, events
from cluster import LEASE, PROCESSES
from history import ANSWER, BROKEN, BUSY, ERROR, GONE, LOST

# After this time without a byte a client gives up.
SILENCE = 15
SECRET = "Bearer secret-of-a-client"
LEVELS = {"debug": True, "info": True, "warning": False, "error": False}


class Unfit(Exception):
    """A response without an answer, by its outcome."""


def outcome_of(response):
    if response.status in (200, 202, 204):
        return None
    text = response.read().decode(errors="replace")
    response.connection.close()
    return {503: BUSY, 404: GONE}.get(response.status, str(response.status)), text[:120]


def attempted(work):
    """Runs a function that sends a request; returns its response, or raises `Unfit`."""
    try:
        response = work()
        refused = outcome_of(response)
    except (OSError, http.client.HTTPException) as error:
        raise Unfit(BROKEN, repr(error)) from None
    if refused:
        raise Unfit(*refused)
    return response


def messages(response):
    """Pairs of an id and a message, of an event stream or of a JSON body."""
    if response.headers.get("content-type") == "text/event-stream":
        yield from events(response)
        return
    try:
        body = response.read()
        yield None, json.loads(body) if body else None
    except (OSError, ValueError, http.client.HTTPException):
        return


class Call:
    """What a client has seen of one call."""

    def __init__(self, operation, id, steps):
        self.operation, self.id, self.steps = operation, id, steps
        self.seen, self.answer, self.step = [], None, 0

    def take(self, number, message):
        wrong = self.operation.wrong
        if message.get("method") == "notifications/progress":
            if message["params"]["progressToken"] != self.id:
                wrong["events are exact"] = f"an event of another call: {message['params']}"
            step = message["params"]["progress"]
            if step != self.step + 1 or self.answer:
                wrong["events are exact"] = f"step {step:.0f} after {self.step:.0f}"
            self.step = max(self.step, step)
        elif "result" in message or "error" in message:
            if message.get("id") != self.id:
                wrong["ids are own"] = f"an answer to {message.get('id')}, not {self.id}"
            if self.answer:
                wrong["events are exact"] = "two answers"
            if "result" in message and self.step != self.steps:
                wrong["events are exact"] = f"{self.step:.0f} of {self.steps} steps before the answer"
            self.answer = message
        if number:
            self.seen.append((number, json.dumps(message, sort_keys=True)))


class Operations:
    def __init__(self, cluster):
        self.cluster, self.history = cluster, cluster.history
        self.dropped = 0

    def client(self, asked, session=None):
        port = self.cluster.balancer.port if asked is None else self.cluster.ports[asked]
        client = Client(port, session and session.id, SILENCE)
        client.fields["authorization"] = SECRET
        return client

    def filtered(self, pairs):
        """What a client sees; with a planted fault an event is lost now and then."""
        for number, message in pairs:
            if self.cluster.plant == "event" and message and message.get("method") == "notifications/progress":
                self.dropped += 1
                if self.dropped % 25 == 0:
                    continue
            yield number, message

    def simple(self, kind, session, asked, work):
        operation = self.history.begin(kind, session, asked)
        try:
            response = attempted(work)
            for _, message in messages(response):
                if message and "error" in message:
                    return self.history.finish(operation, ERROR, str(message["error"]))
            response.connection.close()
        except Unfit as unfit:
            return self.history.finish(operation, *unfit.args)
        return self.history.finish(operation, ANSWER)

    def request(self, kind, session, asked, method, params):
        client = self.client(asked, session)
        return self.simple(kind, session, asked, lambda: client.post(method, params, client.number()))

    def open(self, asked):
        """A session, or None."""
        client = self.client(asked)
        operation = self.history.begin("open", None, asked)
        try:
            response = attempted(lambda: client.post("initialize", client.hello(), client.number()))
            client.session = response.headers["mcp-session-id"]
            for _ in messages(response):
                pass
        except Unfit as unfit:
            self.history.finish(operation, *unfit.args)
            return None
        self.history.finish(operation, ANSWER)
        session = self.history.open(client.session, asked, operation.begin)
        self.simple("ready", session, asked, lambda: client.post("notifications/initialized"))
        return session

    def call(self, session, asked, millis=0, steps=0, kind="call", leave_after=None, others=()):
        """A call of `effect`. After `leave_after` events the client leaves; it resumes at one of `others` in turn."""
        client = self.client(asked, session)
        key = self.history.key(kind)
        operation = self.history.begin(kind, session, asked, millis / 1000, key)
        call = Call(operation, client.number(), steps)
        arguments = {"key": key, "millis": millis, "steps": steps}
        params = {"name": "effect", "arguments": arguments, "_meta": {"progressToken": call.id}}
        try:
            response = attempted(lambda: client.post("tools/call", params, call.id))
        except Unfit as unfit:
            return self.history.finish(operation, *unfit.args)
        self.follow(response, call, leave_after)
        operation.end = time.monotonic()
        if call.seen and not call.answer and others:
            self.resume(session, call, others)
        self.settle(session, call)
        return operation

    def follow(self, response, call, leave_after=None):
        count = 0
        for number, message in self.filtered(messages(response)):
            if message:
                call.take(number, message)
                count += 1
            elif number and not call.seen:
                call.seen.append((number, None))
            if call.answer or count == leave_after:
                break
        response.connection.close()
        response.close()
        return count

    def settle(self, session, call):
        operation, answer = call.operation, call.answer
        session.events += len(call.seen)
        if answer is None:
            operation.outcome = operation.outcome or (LOST if call.seen else BROKEN)
            return
        if "error" in answer:
            operation.outcome, operation.note = ERROR, str(answer["error"])
            return
        operation.outcome = ANSWER
        text = answer["result"]["content"][0]["text"]
        key, _, pid = text.partition(" ")
        if key != operation.key:
            operation.wrong["ids are own"] = f"the answer of {key}"
        if pid.isdigit():
            session.owner = self.history.pids.get(int(pid), session.owner)
        if len(call.seen) > 2:
            session.seen = call.seen

    def resume(self, session, call, others):
        """Resumes the stream of a call until it is answered."""
        began, turn, vain = time.monotonic(), 0, 0
        while not call.answer and vain < 3 and time.monotonic() < began + LEASE + 5 + call.operation.own:
            asked = others[turn % len(others)]
            turn += 1
            client = self.client(asked, session)
            operation = self.history.begin("resume", session, asked, call.operation.own, None)
            last = call.seen[-1][0]
            try:
                response = attempted(lambda: client.send("GET", **{"last-event-id": last}))
            except Unfit as unfit:
                self.history.finish(operation, *unfit.args)
                if operation.outcome == "400" and call.step:
                    operation.wrong["a seen event is replayed"] = f"event {last} is not known ({call.operation.key})"
                if operation.outcome not in (BUSY, BROKEN):
                    call.operation.outcome, call.operation.resumed = LOST, operation.outcome
                    return
                time.sleep(0.1)
                continue
            count = self.follow(response, call)
            self.history.finish(operation, ANSWER, f"{count} events of {call.operation.key}")
            vain = 0 if count else vain + 1
            if not call.answer:
                time.sleep(0.2)

    def replay(self, session, asked, after):
        """Reads what followed an event of a stream that has ended."""
        client = self.client(asked, session)
        operation = self.history.begin("replay", session, asked)
        expected = [each for each in session.seen[after + 1 :] if each[1]]
        found = []
        try:
            response = attempted(lambda: client.send("GET", **{"last-event-id": session.seen[after][0]}))
        except Unfit as unfit:
            if unfit.args[0] == "400":
                operation.wrong["a seen event is replayed"] = f"event {session.seen[after][0]} is not known"
            return self.history.finish(operation, *unfit.args)
        for number, message in messages(response):
            if message:
                found.append((number, json.dumps(message, sort_keys=True)))
            if len(found) == len(expected):
                break
        response.connection.close()
        response.close()
        if found != expected[: len(found)]:
            operation.wrong["events are exact"] = f"replayed {found}, expected {expected}"
        elif len(found) < len(expected):
            operation.wrong["a seen event is replayed"] = f"{len(found)} of {len(expected)} events"
        return self.history.finish(operation, ANSWER)

    def ask(self, session, asked, other, name):
        """A question, which is answered through another process."""
        client = self.client(asked, session)
        operation = self.history.begin("ask", session, asked)
        id, answer = client.number(), None
        try:
            params = {"name": "ask", "arguments": {}}
            response = attempted(lambda: client.post("tools/call", params, id))
        except Unfit as unfit:
            return self.history.finish(operation, *unfit.args)
        for _, message in messages(response):
            if message and message.get("method") == "elicitation/create":
                result = {"action": "accept", "content": {"name": name}}
                reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                began = time.monotonic()
                accepted = self.reply(session, other, reply)
                # The handler waits for it, and each attempt is an operation of its own.
                operation.own += time.monotonic() - began
                if not accepted:
                    break
            elif message and "id" in message:
                answer = message
                break
        response.connection.close()
        if answer is None:
            return self.history.finish(operation, BROKEN)
        if answer["id"] != id or "result" in answer and name not in str(answer["result"]):
            operation.wrong["ids are own"] = f"{answer}, the name is {name}"
        return self.history.finish(operation, ERROR if "error" in answer else ANSWER, str(answer.get("error", "")))

    def reply(self, session, asked, reply):
        """Whether a process has accepted the answer of a question."""
        until = time.monotonic() + LEASE
        while time.monotonic() < until:
            client = self.client(asked, session)
            sent = self.simple("reply", session, asked, lambda: client.send("POST", reply))
            if sent.outcome not in (BUSY, BROKEN):
                return sent.outcome == ANSWER
            time.sleep(0.1)
            asked = (asked + 1) % PROCESSES
        return False

    def set_level(self, session, asked, level):
        session.level = None
        operation = self.request("level", session, asked, "logging/setLevel", {"level": level})
        if operation.outcome == ANSWER:
            session.level = level
        return operation

    def subscribe(self, session, asked):
        return self.request("subscribe", session, asked, "resources/subscribe", {"uri": "fleet://status"})

    def log(self, session, asked):
        """A call that logs: the message arrives if the level allows it."""
        client = self.client(asked, session)
        operation = self.history.begin("log", session, asked)
        params = {"name": "log", "arguments": {"text": "here"}}
        try:
            response = attempted(lambda: client.post("tools/call", params, client.number()))
        except Unfit as unfit:
            return self.history.finish(operation, *unfit.args)
        found = [message for _, message in messages(response) if message]
        if not any("result" in message for message in found):
            return self.history.finish(operation, BROKEN)
        logged = any(message.get("method") == "notifications/message" for message in found)
        if session.level and logged != LEVELS[session.level]:
            operation.wrong["acknowledged state survives"] = f"a message at info, level {session.level}: {logged}"
        return self.history.finish(operation, ANSWER, f"at {session.level}")

    def tool(self, session, asked, name):
        """A call of a tool without arguments."""
        return self.request(name, session, asked, "tools/call", {"name": name, "arguments": {}})

    def ping(self, session, asked, kind="ping"):
        return self.request(kind, session, asked, "ping", {})

    def delete(self, session, asked):
        session.ending = session.ending or time.monotonic()
        operation = self.simple("delete", session, asked, lambda: self.client(asked, session).send("DELETE"))
        if operation.outcome == ANSWER:
            session.deleted = operation.end
        return operation

    def modern(self, asked, kind, method, params, tasks=False, key=None, own=0.0):
        """A request of 2026-07-28: its operation, and its result if there is one."""
        ports = self.cluster.task_ports if tasks else self.cluster.ports
        port = self.cluster.balancer.port if asked is None else ports[asked]
        operation = self.history.begin(kind, None, asked, own, key)
        try:
            response = attempted(lambda: Modern(port, tasks, SILENCE).send(method, params))
        except Unfit as unfit:
            return self.history.finish(operation, *unfit.args), None
        found = [message for _, message in messages(response) if message and message.get("id") == 1]
        response.connection.close()
        if not found:
            return self.history.finish(operation, BROKEN), None
        if "error" in found[0]:
            return self.history.finish(operation, ERROR, str(found[0]["error"])), None
        return self.history.finish(operation, ANSWER), found[0]["result"]

    def effect(self, asked, millis=0, tasks=False):
        """A call of `effect` of 2026-07-28, perhaps as a task."""
        key = self.history.key("task" if tasks else "modern")
        params = {"name": "effect", "arguments": {"key": key, "millis": millis, "steps": 1}}
        own = 0.0 if tasks else millis / 1000
        return self.modern(asked, "task" if tasks else "modern", "tools/call", params, tasks, key, own)
