"""What must hold in every history. Each check yields one row for each thing that it looked at."""

from cluster import LEASE
from history import ANSWER, BROKEN, BUSY, GONE, LOST
from workload import TERMINAL

LONGEST = LEASE + 5
LONGEST_TASK = 6
WRONG = ("ids are own", "events are exact", "a seen event is replayed", "acknowledged state survives")
CALLS = ("call", "probe", "ride", "modern", "displaced", "queued")


class Checked:
    """Counts of a check, and the failures: pairs of a sentence and the operations that show it."""

    def __init__(self):
        self.count, self.failures = 0, []

    def add(self, held, sentence="", operations=()):
        self.count += 1
        if not held:
            self.failures.append((sentence, list(operations)))


class Checks:
    def __init__(self, cluster, workload):
        self.cluster, self.history, self.workload = cluster, cluster.history, workload
        self.operations = [each for each in list(self.history.operations) if each.end]
        self.open = [each for each in list(self.history.operations) if not each.end]
        self.effects = self.history.effects(cluster.effects)
        self.rows = {}

    def run(self):
        self.effects_once()
        self.contents()
        self.missing_sessions()
        self.deleted_sessions()
        self.displaced()
        self.tasks()
        self.times()
        self.modern()
        self.credentials()
        for promise in list(self.history.promises):
            self.add(promise.check, promise.held, promise.what, promise.operations)
        return self.rows

    def add(self, name, *row):
        self.rows.setdefault(name, Checked()).add(*row)

    def effects_once(self):
        for key, found in self.effects.items():
            operations = [each for each in self.operations if each.key == key]
            self.add("no effect twice", len(found) == 1, f"{key} ran {len(found)} times", operations)
        for each in self.operations:
            if each.kind not in CALLS:
                continue
            found = self.effects.get(each.key, [])
            ended = [effect for effect in found if effect.end]
            if each.outcome == ANSWER:
                once = len(ended) == len(found) == 1
                self.add("an answered call ran once", once, f"{each.key}: {len(found)}", [each])
            elif each.outcome in (BUSY, BROKEN, LOST):
                self.add("an unanswered call ran at most once", len(found) <= 1, f"{each.key}: {len(found)}", [each])
            elif each.outcome in (GONE, "400"):
                self.add("a refused call did not run", not found, f"{each.key} was answered {each.outcome}", [each])

    def contents(self):
        for each in self.operations:
            forgotten = each.session and self.history.flushed(each.session, each.end)
            for name in WRONG:
                if name not in each.wrong:
                    self.add(name, True)
                elif not (name == "a seen event is replayed" and forgotten):
                    related = [each]
                    if each.session:
                        begin, end = each.begin - 4, each.end + 1
                        related = [other for other in each.session.operations if begin < other.begin < end]
                    self.add(name, False, f"{self.history.at(each.begin)} {each.kind}: {each.wrong[name]}", related)

    def missing_sessions(self):
        for each in self.operations:
            session = each.session
            if session is None or session.ending and session.ending < each.end:
                continue
            if self.history.flushed(session, each.end):
                continue
            sentence = f"{each.kind} at {each.asked}, session of {session.owner}"
            self.add("no 404 for a living session", each.outcome != GONE, sentence, [each])

    def deleted_sessions(self):
        for each in self.operations:
            session = each.session
            if session is None or session.deleted is None or each.begin <= session.deleted:
                continue
            lag = self.history.heartbeat.lag(each.begin - 3, each.end)
            disturbed = self.history.during(each.begin - 3 - lag, each.end)
            held = each.outcome == GONE or each.outcome in (BUSY, BROKEN) and disturbed
            sentence = f"{each.kind} at {each.asked}: {each.outcome} {each.end - session.deleted:.2f} s after the 204"
            deletes = [other for other in session.operations if other.kind == "delete"]
            self.add("a deleted session is 404", bool(held), sentence, [*deletes, each])

    def isolated(self, process, at):
        """The span in which a process has just been paused or cut for longer than its lease, if there is one."""
        for fault in self.history.during(at - 1, at, "paused", "cut"):
            if fault.process == process and min(fault.end or at, at) - fault.begin > LEASE:
                return fault
        return None

    def displaced(self):
        """No effect starts in a process whose lease is over once another process has served the session."""
        served = {}
        sessions = {}
        for each in self.operations:
            if each.key and each.session:
                for effect in self.effects.get(each.key, []):
                    process = self.history.pids.get(effect.pid)
                    served.setdefault(id(each.session), []).append((effect.start, process, each))
                    sessions[id(each.session)] = each.session
        for key, found in served.items():
            found.sort(key=lambda each: each[0])
            for start, process, operation in found:
                fault = self.isolated(process, start)
                if not fault:
                    continue
                others = [
                    other
                    for other in found
                    if fault.begin < other[0] < start and other[1] != process and not self.left(other, start)
                ]
                sentence = f"{operation.key} began in process {process}, which was {fault.name}"
                shown = [other[2] for other in others[-2:]] + [operation]
                self.add("a displaced process runs nothing", not others, sentence, shown)

    def left(self, other, until):
        """Whether the process that took a session over had a fault of its own since then."""
        return self.history.during(other[0], until, "dead", "ending", "cut", "paused", "away", process=other[1])

    def faults(self, begin, end):
        """The faults of a time, with their processes and how long before its end they were over."""
        def told(fault):
            ago = "not over" if fault.end is None or fault.end > end else f"over {end - fault.end:.1f} s before"
            return f"{fault.name}{'' if fault.process is None else f' {fault.process}'} ({ago})"

        return ", ".join(told(fault) for fault in self.history.during(begin, end)) or "no fault"

    def tasks(self):
        for task in list(self.workload.tasks):
            ended = [status for _, _, status in task.seen if status in TERMINAL]
            last = task.operations[-1].end or task.operations[-1].begin
            self.add("a task ends once", len(set(ended)) <= 1, f"{task.key} was {ended}", task.operations)
            after = task.seen[[each[2] in TERMINAL for each in task.seen].index(True) :] if ended else []
            self.add("an ended task stays so", all(s in TERMINAL for _, _, s in after), f"{task.key}", task.operations)
            if self.history.during(task.begin, last, "flushed"):
                continue
            # A process that has died is followed when the others have renewed their leases for a while: while one fault
            # follows the other, they have not.
            ends = [fault.end or last for fault in self.history.during(task.begin, last)]
            quiet = max([task.begin + LONGEST_TASK, *ends])
            late = last - quiet > LONGEST + self.history.heartbeat.lag(quiet, last)
            sentence = f"{task.key} has not ended after {last - task.begin:.1f} s, with {self.faults(task.begin, last)}"
            self.add("a task ends", bool(ended) or not late, sentence, task.operations)
            missing = [each for each in task.operations if each.outcome in (GONE, "400") or "-32602" in each.note]
            self.add("a created task is found", not missing, f"{task.key} at {[e.asked for e in missing]}", missing)
            found = self.effects.get(task.key, [])
            if "completed" in ended:
                self.add("a completed task ran once", len(found) == 1, f"{task.key}: {len(found)}", task.operations)
            if "failed" in ended and found:
                process = self.history.pids.get(found[0].pid)
                excuse = [
                    fault
                    for fault in self.history.during(task.begin - 1, last, "dead", "ending", "paused", "cut")
                    if fault.process == process
                ]
                sentence = f"{task.key} failed, process {process} lives"
                self.add("a task of a living process does not fail", bool(excuse), sentence, task.operations)
            elif ended:
                self.add("a task of a living process does not fail", True)

    def allowance(self, each):
        """The time that an operation may take for reasons of its own."""
        allowed = each.own + self.history.heartbeat.lag(each.begin, each.end)
        for fault in self.history.during(each.begin, each.end, "paused", process=each.asked):
            if each.asked is None or fault.process == each.asked:
                allowed += min(each.end, fault.end or each.end) - max(each.begin, fault.begin)
        # A handler waits until the store has its events.
        if self.history.during(each.begin, each.end, "slow"):
            allowed += 8
        return allowed

    def times(self):
        for each in self.operations:
            took = each.end - each.begin
            sentence = f"{each.kind} took {took:.2f} s"
            self.add("no operation outlasts lease + 5 s", took <= LONGEST + self.allowance(each), sentence, [each])
        now = max((each.end for each in self.operations), default=0)
        for each in self.open:
            each.outcome, each.end = "no answer", now
            held = now - each.begin <= LONGEST + self.allowance(each)
            self.add("no operation outlasts lease + 5 s", held, f"{each.kind} is open", [each])

    def modern(self):
        """Requests of 2026-07-28 need no store."""
        for each in self.operations:
            if each.kind == "modern" and not self.history.during(
                each.begin - 0.5, each.end, "dead", "ending", "paused", process=each.asked
            ):
                self.add("2026-07-28 needs no store", each.outcome == ANSWER, f"{each.outcome} {each.note}", [each])

    def credentials(self):
        """No header with a credential is in the file of the store."""
        for machine in self.cluster.machines:
            folder = getattr(machine, "folder", None)
            for file in folder.rglob("*.aof") if folder else ():
                found = file.read_bytes().count(b"secret-of-a-client")
                self.add("no credentials in the store", not found, f"{found} times in {file.name}")
