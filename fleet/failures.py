"""Faults of processes and of links."""

import time
from functools import partial

from cluster import LEASE, PROCESSES
from history import ANSWER
from observers import UPDATED, Observer, Observers
from proxy import CUT, PASS, SILENT
from shaker import RECOVERY, TAKEOVER

SLOW = 0.4
# A reply of so many bytes is more than a number: it has a request, a response or an event.
MESSAGE = 150
# What one broken connection may cost, and as long a session may be dark in a rolling restart.
SECOND = 1.0


class Failures:
    """Mixed into the schedule: each method is one fault, and waits for what must follow."""

    def kill(self):
        """kill -9, and a start at once or after the takeover; in half of the cases on a slow link."""
        victim, others = self.victim()
        server, slow = self.cluster.servers[victim], self.chance.random() < 0.5
        sessions = [each for each in (self.fresh(victim), self.fresh(victim)) if each]
        kept, told = self.fresh(victim), self.fresh(victim)
        if told:
            self.operations.call(told, victim, 100, 8)
        streams = self.together(
            *(partial(self.operations.call, session, others[0], 1500, 30, others=others) for session in sessions)
        )
        if slow:
            self.cluster.links[victim].slow(SLOW)
            delayed = self.history.fault("slow", victim)
        else:
            time.sleep(0.3)
        subscribed = kept and self.operations.subscribe(kept, victim).outcome == ANSWER
        level = kept and self.operations.set_level(kept, victim, "error").outcome == ANSWER
        # Before it happens: what it breaks may have ended before the next line.
        fault = self.history.fault("dead", victim)
        server.kill()
        since = time.monotonic()
        if slow:
            self.cluster.links[victim].slow(0)
            self.history.over(delayed)
        at_once = self.chance.random() < 0.5
        if at_once:
            self.cluster.run(victim)
            self.history.over(fault)
        left = [*sessions, *filter(None, (kept, told))]
        self.answer("a killed owner is followed", left, others, since, TAKEOVER)
        if told and told.seen:
            # No process that lives has sent these events.
            self.operations.replay(told, others[0], 0)
        if level:
            self.operations.log(kept, others[0])
        if subscribed:
            self.updates(kept, others)
        if not at_once:
            self.cluster.run(victim)
            self.history.over(fault)
        self.recovered(time.monotonic(), self.each_process(), check="recovery of a process")
        self.join(streams, time.monotonic() + LEASE)

    def updates(self, session, others):
        """A subscription that was acknowledged is served by the process that has taken the session over."""
        observer = Observer(self.operations, others[0], session)
        observer.begun.wait(3)
        time.sleep(0.2)
        since = time.monotonic()
        update = self.operations.tool(session, others[1], "update")
        if update.outcome == ANSWER:
            until = since + RECOVERY
            while not observer.has(UPDATED, since) and time.monotonic() < until + self.history.heartbeat.lag(
                since, time.monotonic()
            ):
                time.sleep(0.05)
            held = observer.has(UPDATED, since)
            self.history.promise("acknowledged state survives", "a subscription", held, *session.operations[-6:])
        observer.close()

    def pause(self):
        """SIGSTOP for longer than the lease; requests wait for the process when it wakes."""
        victim, others = self.victim()
        server = self.cluster.servers[victim]
        sessions = [each for each in (self.fresh(victim), self.fresh(victim)) if each]
        # Writes are on their way when it stops.
        busy = self.together(
            *(partial(self.operations.call, session, victim, 1500, 150, others=others) for session in sessions)
        )
        self.cluster.links[victim].slow(SLOW / 4)
        time.sleep(0.4)
        server.pause()
        fault = self.history.fault("paused", victim)
        self.cluster.links[victim].slow(0)
        self.answer("a paused owner is followed", sessions, others, fault.begin, TAKEOVER)
        time.sleep(max(0, fault.begin + LEASE + 1 - time.monotonic()))
        queued = self.together(
            *(partial(self.operations.call, session, victim, kind="queued") for session in sessions * 4)
        )
        time.sleep(0.3)
        self.history.over(fault)
        server.wake()
        self.recovered(fault.end, sessions, check="recovery of a process")
        self.join(queued + busy, time.monotonic() + RECOVERY)

    def cut(self):
        """A process cannot reach the store for longer than the lease, the others can."""
        victim, others = self.victim()
        mode = self.chance.choice([CUT, SILENT])
        sessions = [each for each in (self.fresh(victim), self.fresh(victim)) if each]
        elsewhere = self.fresh(others[0])
        deleted = self.fresh(victim)
        observers = Observers(self)
        fault = self.cluster.cut(victim, mode)
        change = observers.change(self.chance.choice([victim, others[0]]))
        self.answer("a cut-off owner is followed", sessions, others, fault.begin, TAKEOVER)
        if deleted and self.operations.delete(deleted, others[0]).outcome == ANSWER:
            self.workload.deleted.append(deleted)
        time.sleep(max(0, fault.begin + LEASE + 0.5 - time.monotonic()))
        # A process that serves them nevertheless has answers that wait for the store.
        displaced = [*sessions, *([deleted] if deleted else [])] * 3
        calls = self.together(
            *(partial(self.operations.call, session, victim, kind="displaced") for session in displaced)
        )
        self.join(calls, time.monotonic() + 1)
        self.cluster.heal(victim, fault)
        told = self.together(lambda: observers.told("a change in an outage is told", change, fault.end, RECOVERY))
        self.recovered(fault.end, [*sessions, *([elsewhere] if elsewhere else [])])
        self.join(told, time.monotonic() + RECOVERY)
        observers.close()

    def peers(self):
        """The others cannot reach a process, which reaches the store."""
        victim, others = self.victim()
        sessions = self.each_process()
        fault = self.history.fault("peers", victim)
        self.cluster.peers[victim].set(self.chance.choice([CUT, SILENT]))
        until = time.monotonic() + self.chance.choice([1, LEASE + 1])
        while time.monotonic() < until:
            for session in sessions:
                self.together(*(partial(self.operations.call, session, asked, 100, 4) for asked in others))
            time.sleep(0.5)
        self.cluster.peers[victim].set(PASS)
        self.history.over(fault)
        self.recovered(fault.end, sessions)

    def slow(self):
        """All links are slow, and a process ends while requests wait for the store."""
        victim, others = self.victim()
        sessions = [each for each in (self.fresh(victim), self.fresh(victim)) if each]
        fault = self.history.fault("slow")
        for link in self.cluster.links + self.cluster.peers:
            link.slow(SLOW)
        if sessions:
            self.together(partial(self.operations.call, sessions[0], victim, 2000, 2, others=others))
        time.sleep(1)
        for session in sessions * 2:
            self.together(*(partial(self.operations.ping, session, asked) for asked in range(PROCESSES)))
        time.sleep(SLOW)
        self.restart(victim)
        for link in self.cluster.links + self.cluster.peers:
            link.slow(0)
        self.history.over(fault)
        self.recovered(fault.end, self.each_process())

    def restart(self, number):
        """SIGTERM, and a start once it has ended."""
        fault = self.history.fault("ending", number)
        self.cluster.servers[number].end()
        self.cluster.run(number)
        self.history.over(fault)

    def reset(self):
        """One connection is reset at a time, on the link to the store or to a process, some with a reply on its way."""
        for turn in range(6):
            victim, others = self.victim()
            sessions = self.each_process()
            proxy = (self.cluster.links if turn % 2 else self.cluster.peers)[victim]
            asked = {session.owner: [victim] if session.owner != victim else others for session in sessions}
            steps = self.chance.choice([0, 0, 2])
            calls = self.together(
                *(
                    partial(self.operations.call, session, process, 300, steps)
                    for session in sessions
                    for process in asked[session.owner]
                )
            )
            time.sleep(self.chance.uniform(0, 0.25))
            fault = self.history.fault("reset", victim)
            if self.chance.random() < 0.7:
                proxy.lose_reply(MESSAGE)
            else:
                proxy.reset()
            self.join(calls, fault.begin + 0.3 + SECOND + 1)
            proxy.lose_reply(0)
            for session in sessions:
                for operation in session.operations:
                    if operation.kind == "call":
                        end = operation.end or time.monotonic()
                        limit = 0.3 + SECOND + self.history.heartbeat.lag(operation.begin, end)
                        what = f"{operation.key} took {end - operation.begin:.2f} s, {operation.outcome or 'not done'}"
                        held = end - operation.begin <= limit
                        self.history.promise("one reset costs a second", what, held, operation)
            self.answer("one reset costs a second", sessions, [victim], time.monotonic(), SECOND)
            self.history.over(fault)

    def rolling(self):
        """SIGTERM and a start of each process, one after the other; sessions behind the balancer without affinity."""
        sessions = self.each_process() + self.each_process()
        running = [True]

        def ride(session, number):
            turn = number
            while running[0]:
                millis = 1200 if turn % 6 == 0 else 30
                self.operations.call(session, None, millis, 3, kind="ride", others=[None])
                turn += 1
                time.sleep(0.02)

        began = time.monotonic()
        riders = self.together(
            *(partial(ride, session, number) for number, session in enumerate(sessions))
        )
        time.sleep(0.5)
        for number in self.chance.sample(range(PROCESSES), PROCESSES):
            others = [other for other in range(PROCESSES) if other != number]
            own = [each for each in (self.fresh(number), self.fresh(number)) if each]
            # Calls that came through another process, one at once and one whose client has left and resumes it.
            calls = self.together(
                *(
                    partial(self.operations.call, session, others[0], 1500, 5, "ride", leave, others)
                    for session, leave in zip(own, (None, 1))
                )
            )
            time.sleep(0.5)
            self.restart(number)
            self.join(calls, time.monotonic() + LEASE)
            sessions += own
        time.sleep(0.5)
        running[0] = False
        self.join(riders, time.monotonic() + LEASE)
        effects = self.history.effects(self.cluster.effects)
        for session in sessions:
            self.ridden(session, began, effects)
        self.recovered(time.monotonic(), sessions, check="recovery of a process")

    def ridden(self, session, began, effects):
        """No accepted call of the session is lost, and it is never dark for longer than a second."""
        rides = [each for each in session.operations if each.kind == "ride"]
        dark = None
        for number, each in enumerate(rides):
            accepted, answered = bool(effects.get(each.key)), each.outcome == ANSWER
            if accepted or answered:
                what = f"{each.key}: {each.outcome}"
                self.history.promise("an ending process loses no call", what, answered, each)
            dark = each.begin if dark is None else dark
            if answered or number == len(rides) - 1:
                end = each.end or time.monotonic()
                limit = SECOND + (each.own if answered else 0) + self.history.heartbeat.lag(dark, end)
                what = f"a session was dark for {end - dark - each.own:.2f} s"
                shown = rides[max(0, number - 3) : number + 1]
                self.history.promise("at most 1 s dark", what, end - dark <= limit, *shown)
                dark = None
