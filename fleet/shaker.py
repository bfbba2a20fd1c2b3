"""What every fault needs: sessions at known processes, and the bounds within which they must answer again."""

import threading
import time
from functools import partial

from cluster import LEASE, PROCESSES
from history import ANSWER

# After an outage, in seconds.
RECOVERY = 3
TAKEOVER = LEASE + 1


class Shaker:
    def __init__(self, cluster, operations, workload, seed):
        self.cluster, self.history = cluster, cluster.history
        self.operations, self.workload, self.seed, self.chance = operations, workload, seed, None

    def victim(self):
        """A process, and the others in any order."""
        order = self.chance.sample(range(PROCESSES), PROCESSES)
        if self.cluster.plant == "no-fence":
            order.sort()
        return order[0], order[1:]

    def fresh(self, owner):
        """A new session of a process."""
        until = time.monotonic() + RECOVERY
        while True:
            began = time.monotonic()
            if session := self.operations.open(owner):
                return session
            lag = self.history.heartbeat.lag(began, time.monotonic())
            if time.monotonic() > until + lag:
                self.history.promise("a session can be opened", f"not at process {owner}", False)
                return None
            time.sleep(0.1)

    def each_process(self):
        return [session for number in range(PROCESSES) if (session := self.fresh(number))]

    def together(self, *works):
        """Runs functions at the same time; returns their threads."""
        threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in threads:
            thread.start()
        return threads

    def answer(self, check, sessions, processes, since, limit):
        """Each of the sessions answers at each of the processes in a time."""
        pairs = [(session, asked) for session in sessions for asked in processes]
        missing = set(range(len(pairs)))
        done = threading.Event()

        def attempt(number):
            session, asked = pairs[number]
            found = []
            while not done.is_set():
                found.append(self.operations.call(session, asked, kind="probe"))
                if found[-1].outcome == ANSWER:
                    if number in missing:
                        missing.discard(number)
                        what = f"a session of {owners[number]} at process {asked}"
                        self.history.bound(check, what, since, limit, *found[-3:])
                    return
                time.sleep(0.1)

        owners = [session.owner for session, _ in pairs]
        threads = self.together(*(partial(attempt, number) for number in range(len(pairs))))
        self.join(threads, since + limit)
        done.set()
        for number in list(missing):
            missing.discard(number)
            session, asked = pairs[number]
            what = f"a session of {owners[number]} does not answer at process {asked} in {limit} s"
            self.history.promise(check, what, False, *session.operations[-3:])

    def join(self, threads, until):
        """Waits for threads until a time, and as much longer as this machine lags."""
        began = time.monotonic()
        while any(thread.is_alive() for thread in threads):
            if time.monotonic() > until + 1 + self.history.heartbeat.lag(began, time.monotonic()):
                return
            time.sleep(0.02)

    def recovered(self, since, sessions, limit=RECOVERY, check="recovery after an outage"):
        self.answer(check, sessions, range(PROCESSES), since, limit)
