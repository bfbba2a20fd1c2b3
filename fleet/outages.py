"""Faults of the store."""

import time

from cluster import LEASE, PROCESSES
from history import ANSWER
from observers import Observers
from proxy import PASS, STALLED
from shaker import RECOVERY
from workload import TERMINAL


class Outages:
    """Mixed into the schedule: each method is one fault, and waits for what must follow."""

    def stop(self):
        """The store is stopped for longer than the lease or shorter, and started with its data."""
        seconds = self.chance.choice([1.5, LEASE + 1.5, LEASE + 1.5])
        sessions, observers = self.each_process(), Observers(self)
        tasks = self.long_tasks(seconds + 1)
        fault = self.history.fault("away")
        self.cluster.store.stop()
        time.sleep(0.2)
        change = observers.change(self.chance.randrange(PROCESSES))
        time.sleep(seconds)
        self.cluster.store.start()
        self.history.over(fault)
        self.afterwards(fault, sessions, observers, change, tasks)

    def long_tasks(self, seconds):
        """A task at each process, which ends after a time."""
        return [each for number in range(PROCESSES) if (each := self.workload.begin(number, int(seconds * 1000)))]

    def afterwards(self, fault, sessions, observers, change, tasks):
        told = self.together(lambda: observers.told("a change in an outage is told", change, fault.end, RECOVERY))
        self.recovered(fault.end, sessions)
        self.join(told, fault.end + RECOVERY)
        observers.close()
        until = time.monotonic() + RECOVERY
        for number, task in enumerate(tasks):
            while (status := self.workload.poll(task, (number + 1) % PROCESSES)) not in TERMINAL:
                if time.monotonic() > until + self.history.heartbeat.lag(until - RECOVERY, time.monotonic()):
                    break
                time.sleep(0.1)
            check = "a task of a living process does not fail"
            self.history.promise(check, f"{task.key}: {status}", status == "completed", *task.operations)

    def stall(self):
        """The store does not answer: the whole process, or half-way through replies."""
        seconds = self.chance.choice([1.5, LEASE + 1])
        whole = self.chance.random() < 0.5
        sessions, observers = self.each_process(), Observers(self)
        tasks = self.long_tasks(seconds + 0.5)
        fault = self.history.fault("away")
        if whole:
            self.cluster.store.pause()
        else:
            for link in self.cluster.links:
                link.set(STALLED)
        change = observers.change(self.chance.randrange(PROCESSES))
        time.sleep(seconds)
        if whole:
            self.cluster.store.wake()
        else:
            for link in self.cluster.links:
                link.set(PASS)
        self.history.over(fault)
        self.afterwards(fault, sessions, observers, change, tasks)

    def full(self):
        """The store refuses writes for want of memory."""
        sessions = self.each_process()
        doomed = self.fresh(self.chance.randrange(PROCESSES))
        fault = self.history.fault("full")
        self.cluster.store.run("CONFIG", "SET", "maxmemory", "1")
        time.sleep(0.5)
        if doomed:
            operation = self.operations.delete(doomed, self.chance.randrange(PROCESSES))
            ended = operation.outcome == ANSWER
            self.history.promise("a full store can be emptied", f"a DELETE: {operation.outcome}", ended, operation)
            if ended:
                self.workload.deleted.append(doomed)
        time.sleep(self.chance.choice([1, LEASE]))
        self.cluster.store.run("CONFIG", "SET", "maxmemory", "0")
        self.history.over(fault)
        self.recovered(fault.end, sessions)

    def flush(self):
        """The store forgets all while it runs."""
        fault = self.history.fault("flushed")
        self.cluster.store.run("FLUSHALL")
        self.history.over(fault)
        self.forgotten(fault)

    def empty(self):
        """The store is started without what it had."""
        away, fault = self.history.fault("away"), self.history.fault("flushed")
        self.cluster.store.stop()
        self.cluster.store.empty()
        time.sleep(self.chance.choice([0, 1.5]))
        self.cluster.store.start()
        self.history.over(fault)
        self.history.over(away)
        self.forgotten(fault)

    def forgotten(self, fault):
        """New sessions work, and stay where they began."""
        sessions = self.each_process()
        owners = [session.owner for session in sessions]
        self.recovered(fault.end, sessions, check="recovery of an empty store")
        for session, owner in zip(sessions, owners):
            moved = [
                effect
                for each in session.operations
                if each.key
                for effect in self.history.effects(self.cluster.effects).get(each.key, [])
                if self.history.pids.get(effect.pid) != owner
            ]
            what = f"a session of process {owner} ran in {[self.history.pids.get(effect.pid) for effect in moved]}"
            self.history.promise("a new session stays at its process", what, not moved, *session.operations)
