"""What clients do while faults happen, with sessions, requests of 2026-07-28 and tasks: one thing after the other."""

import random
import threading
import time
from dataclasses import dataclass, field

from cluster import PROCESSES
from history import ANSWER, GONE

SESSIONS = 6
# A session keeps 256 events, and those that are replayed must be among them.
EVENTS = 180
TERMINAL = ("completed", "failed", "cancelled")


@dataclass
class Task:
    key: str
    id: str
    begin: float
    # The times at which clients saw a status, and at which process.
    seen: list = field(default_factory=list)
    operations: list = field(default_factory=list)


class Workload:
    def __init__(self, cluster, operations, seed):
        self.cluster, self.history, self.operations = cluster, cluster.history, operations
        self.running, self.tasks, self.deleted, self.left = True, [], [], []
        actors = [self.session] * SESSIONS + [self.modern, self.task, self.task, self.grave]
        self.threads = [
            threading.Thread(target=self.act, args=(actor, random.Random(f"{seed} {number}")), daemon=True)
            for number, actor in enumerate(actors)
        ]
        for thread in self.threads:
            thread.start()

    def act(self, actor, chance):
        state = {}
        while self.running:
            actor(chance, state)
            time.sleep(chance.uniform(0.03, 0.15))
        # Tasks that were begun are followed to their ends.
        until = time.monotonic() + 5
        while state.get("task") and time.monotonic() < until:
            actor(chance, state)
            time.sleep(0.1)

    def anywhere(self, chance):
        return chance.choice([None, *range(PROCESSES)])

    def session(self, chance, state):
        operations, session = self.operations, state.get("session")
        if session is None:
            state["session"] = operations.open(self.anywhere(chance))
            return
        asked, other = self.anywhere(chance), chance.randrange(PROCESSES)
        kinds = {"call": 5, "left": 3, "quick": 3, "replay": 2, "ask": 1, "level": 1, "log": 1, "delete": 0.7}
        kind = chance.choices(list(kinds), list(kinds.values()))[0]
        if session.ending or session.events > EVENTS:
            kind = "delete"
        others = chance.sample(range(PROCESSES), PROCESSES)
        steps = chance.randint(4, 10)
        if kind == "call":
            done = operations.call(session, asked, chance.randint(60, 600), steps, others=others)
        elif kind == "left":
            leave_after = chance.randint(1, steps - 1)
            millis = chance.randint(200, 900)
            done = operations.call(session, asked, millis, steps, leave_after=leave_after, others=others)
        elif kind == "quick":
            done = operations.call(session, asked)
        elif kind == "replay":
            if not session.seen:
                return
            done = operations.replay(session, asked, chance.randrange(1, len(session.seen) - 1))
        elif kind == "ask":
            done = operations.ask(session, asked, other, f"name-{chance.randrange(10**6)}")
        elif kind == "level":
            done = operations.set_level(session, asked, chance.choice(["info", "error"]))
        elif kind == "log":
            done = operations.log(session, asked)
        else:
            done = operations.delete(session, asked)
            if done.outcome == ANSWER:
                self.deleted.append(session)
        if done.outcome in (ANSWER, GONE) and session.ending or GONE in (done.outcome, done.resumed):
            state["session"] = None

    def modern(self, chance, state):
        self.operations.effect(self.anywhere(chance), chance.choice([0, 0, 100]))

    def task(self, chance, state):
        task = state.get("task")
        if task is None:
            state["task"] = self.begin(chance.randrange(PROCESSES), chance.choice([100, 300, 1500]))
            return
        ended = self.poll(task, chance.randrange(PROCESSES)) in TERMINAL
        # It is read again after its end, elsewhere.
        state["ended"] = state.get("ended", 0) + 1 if ended else 0
        if state["ended"] == 3 or task.begin < time.monotonic() - 20:
            state["task"], state["ended"] = None, 0

    def begin(self, asked, millis):
        operation, result = self.operations.effect(asked, millis, tasks=True)
        if not result or "taskId" not in result:
            return None
        task = Task(operation.key, result["taskId"], operation.begin, operations=[operation])
        self.tasks.append(task)
        return task

    def poll(self, task, asked):
        """The status that a process says."""
        operation, result = self.operations.modern(asked, "poll", "tasks/get", {"taskId": task.id}, tasks=True)
        task.operations.append(operation)
        if result is None:
            return None
        operation.note = f"{task.key}: {result['status']} {result.get('statusMessage') or ''}".rstrip()
        task.seen.append((operation.begin, asked, result["status"]))
        return result["status"]

    def grave(self, chance, state):
        """A session that was deleted is asked for again."""
        if self.deleted:
            self.operations.ping(chance.choice(self.deleted), chance.randrange(PROCESSES), "grave")

    def stop(self, limit):
        """Ends it; operations that do not end in time remain open in the history."""
        self.running = False
        until = time.monotonic() + limit
        for thread in self.threads:
            thread.join(max(0.1, until - time.monotonic()))
