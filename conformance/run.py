#!/usr/bin/env python3
"""The official conformance suite against ours: both adapters, every role, every revision that it knows.

Usage: run.py [ADAPTER...] [--role ROLE] [--suite NAME] [--scenario NAME] [--url URL] [--command COMMAND]

ADAPTER is tokio or smol (both by default). Installs the suites that suite/package-lock.json pins, and the Node that they
need, below target/conformance; builds the programs under test, runs every row but those of tasks, and prints one table. Fails
on a row that fails, warns or is missing. --url and --command test another server or client instead.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
WORK = TARGET / "conformance"
RESULTS = WORK / "results"
MODULES = WORK / "node_modules"
NODE = MODULES / "node" / "bin" / "node"

# The suite skips all checks of this row.
LEFT_OUT = "tasks-status-notifications"
# A row that hangs is a row that fails, long before this.
LIMIT = 600

ADAPTERS = ["tokio", "smol"]


@dataclass
class Suite:
    """One version of the suite, with the words that select what it runs."""

    name: str
    package: str
    # The wire, where one can be chosen.
    revision: str | None = None
    # Whether the revision has a requirement set. Without one, its rows are those of no later revision.
    requirements: bool = True
    roles: tuple[str, ...] = ("server", "proxy", "client")
    # A row that is not run in this version alone.
    left_out: str | None = None
    # How the names of its rows begin, where they belong to an extension: no requirement set has them.
    prefix: str | None = None

    def command(self, *words: str) -> list[str]:
        return [str(NODE), str(MODULES / self.package / "dist" / "index.js"), *words]

    def call(self, *words: str, log: Path | None = None) -> subprocess.CompletedProcess:
        # Clients have to be found by the shell that starts them, and nothing else comes from outside.
        result = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", timeout=LIMIT)
        if log:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(result.stdout + result.stderr, encoding="utf-8")
        return result

    def rows(self, role: str) -> list[str]:
        """Every row of one role that is run, scored or not."""
        has_set = self.revision and self.requirements and not self.prefix
        words = ["--requirements", self.revision] if has_set else [f"--{role}"]
        listed = self.call("list", *words).stdout.splitlines()
        if self.revision and not has_set and not self.prefix:
            listed = [line for line in listed if line.endswith((":", f"[{self.revision}]"))]
        rows, section = [], ""
        for line in listed:
            if heading := re.match(r"(Server|Client|Authorization) (?:server )?scenarios", line):
                section = heading[1].lower()
            elif line.startswith("Run and reported"):
                section = "not scored"
            elif entry := re.match(r" +- (\S+)(?: \[(\S+)\])?", line):
                name, leg = entry.groups()
                if role == (leg if section == "not scored" else section):
                    rows.append(name)
        rows = [row for row in rows if row not in (self.left_out, LEFT_OUT) and row.startswith(self.prefix or "")]
        if not rows:
            sys.exit(f"{self.name} lists no rows for the role {role}")
        return rows

    def selection(self, role: str) -> list[str]:
        return ["--requirements", self.revision] if self.revision else ["--suite", "all"]

    def single(self, row: str) -> list[str]:
        # A requirement set runs all its rows at its own revision, whatever the row itself asks for.
        wire = ["--spec-version", self.revision, "--force"] if self.revision else []
        return ["--scenario", row, *wire]


SUITES = [
    # Its other rows run in later revisions as well.
    Suite("2025-03-26", "conformance", "2025-03-26", requirements=False, roles=("client",)),
    Suite("2025-11-25", "conformance", "2025-11-25"),
    Suite("2026-07-28", "conformance", "2026-07-28"),
    # The methods are the same in both.
    Suite("skills-2025-11-25", "conformance", "2025-11-25", prefix="sep-2640-"),
    Suite("skills-2026-07-28", "conformance", "2026-07-28", prefix="sep-2640-"),
    # The metadata of this row names another issuer than RFC 8414 requires. Later versions have corrected it.
    Suite("0.1.16", "conformance-0.1", left_out="auth/2025-03-26-oauth-metadata-backcompat"),
    Suite("authorization", "conformance", roles=("authorization",)),
]


@dataclass
class Run:
    """What came of one suite in one role."""

    adapter: str
    role: str
    suite: str
    seconds: float = 0.0
    # What each row came to; `None` for those that left no result.
    rows: dict[str, list[dict] | None] = field(default_factory=dict)
    # Rows that failed beside their checks: the program under test said no, or did not end.
    ended: dict[str, str] = field(default_factory=dict)

    def count(self, *statuses: str) -> int:
        return sum(check["status"] in statuses for checks in self.rows.values() for check in checks or [])

    def passed(self, row: str) -> bool:
        checks = self.rows[row]
        statuses = {check["status"] for check in checks or []}
        return row not in self.ended and "SUCCESS" in statuses and not statuses & {"FAILURE", "WARNING"}

    def line(self) -> list[str]:
        passed = sum(map(self.passed, self.rows))
        return [
            self.adapter,
            self.role,
            self.suite,
            f"{passed}/{len(self.rows)}",
            f"{self.count('SUCCESS')}/{self.count('SUCCESS', 'FAILURE', 'WARNING')}",
            str(self.count("SKIPPED")),
            f"{self.seconds:.0f}",
        ]

    def notes(self) -> list[str]:
        notes = []
        for row, checks in self.rows.items():
            where = f"{self.adapter} {self.role} {self.suite} {row}"
            if checks is None:
                notes.append(f"MISSING {where}: it left no result")
            if row in self.ended:
                notes.append(f"FAILURE {where}: {self.ended[row]}")
            for check in checks or []:
                if check["status"] in ("FAILURE", "WARNING", "SKIPPED"):
                    reason = " ".join((check.get("errorMessage") or check.get("description", "")).split())[:400]
                    notes.append(f"{check['status']} {where}: {check['id']} ({check['name']}): {reason}")
        return notes


def main() -> int:
    options = arguments()
    install()
    call(ROOT / "scripts" / "programs.sh")
    runs = []
    for adapter in options.adapters:
        for suite in SUITES:
            if options.suite in (None, suite.name):
                for role in suite.roles:
                    if options.role in (None, role):
                        runs += ROLES[role](options, adapter, suite)
    return report(runs)


def server(options: argparse.Namespace, adapter: str, suite: Suite) -> list[Run]:
    return [serving(options, suite, Run(adapter, "server", suite.name), [])]


def proxy(options: argparse.Namespace, adapter: str, suite: Suite) -> list[Run]:
    """`mcp-cmd proxy` before the same server, which speaks one revision of each era."""
    if adapter != "tokio" or not suite.revision or suite.prefix or options.url:
        return []
    runs = [Run(adapter, f"proxy of {behind}", suite.name) for behind in BEHIND]
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda run, behind: serving(options, suite, run, ["--revisions", behind]), runs, BEHIND))


def serving(options: argparse.Namespace, suite: Suite, run: Run, behind: list[str]) -> Run:
    """The suite against a server, or against a proxy before one that is started with the words of `behind`."""
    out = folder(run)
    left_out = (OF_A_STREAM, *OF_AN_ERA.get((behind[1], suite.revision), ())) if behind else ()
    rows = [row for row in wanted(options, suite.rows("server")) if not row.startswith(left_out)]
    began = time.monotonic()
    with listening(options, run.adapter, behind, out / "server.txt") as url:
        # A row that is left out may wait for long for what does not come.
        if options.scenario or suite.prefix or len(left_out) > 1:
            for row in rows:
                suite.call("server", "--url", url, *suite.single(row), "-o", str(out), log=out / f"{row}.txt")
        else:
            suite.call("server", "--url", url, *suite.selection("server"), "-o", str(out), log=out / "suite.txt")
    run.seconds = time.monotonic() - began
    run.rows = {row: checks(out, f"server-{row}") for row in rows}
    return run


def client(options: argparse.Namespace, adapter: str, suite: Suite) -> list[Run]:
    """Row by row: run all at once, the suite keeps no account of how the clients ended, and times are tight.

    Those of authorization measure no time, so they run beside each other.
    """
    run = Run(adapter, "client", suite.name)
    out = folder(run)
    command = options.command or f"{TARGET / 'debug' / 'conformance-client'} --runtime {adapter}"
    began = time.monotonic()

    def run_row(row: str) -> None:
        result = suite.call("client", "--command", command, *suite.single(row), "-o", str(out), log=out / f"{row}.txt")
        run.rows[row] = checks(out, row)
        ended = [line for line in result.stderr.splitlines() if line.startswith("Client exited with") or "CLIENT TIMED OUT" in line]
        if result.returncode != 0:
            run.ended[row] = "; ".join(ended) or f"status {result.returncode}"

    rows = wanted(options, suite.rows("client"))
    for row in rows:
        if not row.startswith("auth/"):
            run_row(row)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run_row, [row for row in rows if row.startswith("auth/")]))
    run.rows = {row: run.rows[row] for row in rows}
    run.seconds = time.monotonic() - began
    return [run]


def authorization(options: argparse.Namespace, adapter: str, suite: Suite) -> list[Run]:
    """The example authorization-server, and a server whose users log in there, with this program in the place of the browser."""
    runs = []
    port, callback = free_port(), free_port()
    example = [TARGET / "debug" / "authorization-server", "--runtime", adapter, "--consent", "auto"]
    run = Run(adapter, "authorization", suite.name)
    out = folder(run)
    client = f"suite=http://127.0.0.1:{callback}/callback"
    with started([*example, "--port", str(port), "--client", client], port, out / "server.txt"):
        runs.append(issuing(options, suite, run, out, f"http://localhost:{port}", "suite", callback))

    port, provider, callback = free_port(), free_port(), free_port()
    run = Run(adapter, "delegated login", suite.name)
    out = folder(run)
    client = f"notes:s3cret=http://127.0.0.1:{port}/callback"
    fixture = [TARGET / "debug" / "fixture", "--runtime", adapter, "http-auth", str(port)]
    url = f"http://127.0.0.1:{port}"
    with (
        started([*example, "--port", str(provider), "--no-registration", "--client", client], provider, out / "provider.txt"),
        started(fixture, port, out / "server.txt", MCP_AUTH_PROVIDER=f"http://localhost:{provider}"),
    ):
        metadata = {"client_name": "suite", "redirect_uris": [f"http://127.0.0.1:{callback}/callback"]}
        with urllib.request.urlopen(f"{url}/register", json.dumps(metadata).encode(), timeout=20) as registered:
            client = json.load(registered)["client_id"]
        runs.append(issuing(options, suite, run, out, url, client, callback, f"{url}/mcp"))
    return runs


def issuing(
    options: argparse.Namespace,
    suite: Suite,
    run: Run,
    out: Path,
    url: str,
    client: str,
    callback: int,
    resource: str = "http://localhost/mcp",
) -> Run:
    """The suite against an authorization server at which this client is registered."""
    rows = wanted(options, suite.rows("authorization"))
    began = time.monotonic()
    words = ["authorization", "--url", url, "--client-id", client, "--port", str(callback), "--resource", resource, "-o", str(out)]
    suite_runs = subprocess.Popen(suite.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        with (out / "suite.txt").open("w", encoding="utf-8") as log:
            for line in suite_runs.stdout:
                log.write(line)
                if line.startswith("http"):
                    visit(line.strip(), callback)
        if suite_runs.wait(LIMIT) != 0:
            run.ended = {row: f"status {suite_runs.returncode}" for row in rows}
    finally:
        suite_runs.kill()
    run.seconds = time.monotonic() - began
    run.rows = {row: checks(out, f"authorization-server-{row}") or checks(out, row) for row in rows}
    return run


class Staying(urllib.request.HTTPRedirectHandler):
    """Leaves redirects to `visit`, which sends the cookie of a page whatever it says of TLS."""

    def redirect_request(self, *_):
        return None


def visit(url: str, callback: int) -> None:
    """Opens the page, allows what its form asks, and follows it to the suite, which listens soon after it has printed the URL."""
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", callback)) == 0:
                break
        time.sleep(0.05)
    browser = urllib.request.build_opener(Staying)
    cookie, form = "", None
    while url:
        page = ""
        try:
            with browser.open(urllib.request.Request(url, form, {"Cookie": cookie}), timeout=20) as answer:
                head, page = answer.headers, answer.read().decode()
        except urllib.error.HTTPError as redirect:
            if not redirect.headers["Location"]:
                raise
            head = redirect.headers
        cookie = head.get("Set-Cookie", cookie).partition(";")[0]
        asked = re.search('action="([^"]*)".*name="request" value="([^"]*)"', page)
        form = urllib.parse.urlencode({"request": asked[2], "decision": "allow"}).encode() if asked else None
        url = head["Location"] or (asked and asked[1])


ROLES = {"server": server, "proxy": proxy, "client": client, "authorization": authorization}
# The revisions of the server behind a proxy.
BEHIND = ["2025-11-25", "2026-07-28"]
# In this row a tool closes the stream of its caller, which a tool behind a proxy does not have.
OF_A_STREAM = "server-sse-polling"
# The rows that want of a server what its era does not have, by the revision of the server and that of the suite: keys of questions, several
# questions at once, the code of a missing capability, and tasks of the extension.
OF_AN_ERA = {
    ("2025-11-25", "2026-07-28"): (
        "server-stateless",
        "input-required-result-basic-elicitation",
        "input-required-result-multiple-input-requests",
        "input-required-result-ignore-extra-params",
        "tasks-",
    )
}


def wanted(options: argparse.Namespace, rows: list[str]) -> list[str]:
    return [row for row in rows if options.scenario in (None, row)]


def checks(out: Path, row: str) -> list[dict] | None:
    """What the suite wrote about a row: its folders end with the time."""
    found = [path for path in out.glob(f"{row}-*/checks.json") if re.fullmatch(r"[-0-9TZ]+", path.parent.name[len(row) + 1 :])]
    return json.loads(max(found).read_text(encoding="utf-8")) if found else None


def folder(run: Run) -> Path:
    out = RESULTS / f"{time.strftime('%Y%m%dT%H%M%S')}-{run.adapter}-{run.role.replace(' ', '-')}-{run.suite}"
    out.mkdir(parents=True, exist_ok=True)
    return out


@contextmanager
def listening(options: argparse.Namespace, adapter: str, behind: list[str], log: Path):
    """The URL of a server under test, or of a proxy, that lives as long as the block."""
    if options.url:
        yield options.url
        return
    port = free_port()
    program = [TARGET / "debug" / "everything", "--runtime", adapter]
    command = [*program, "--http", f"127.0.0.1:{port}"]
    if behind:
        command = [TARGET / "debug" / "mcp-cmd", "proxy", "--http", f"127.0.0.1:{port}", "--", *program, *behind]
    with started(command, port, log):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def started(command: list[str | Path], port: int, log: Path, **environment: str):
    """A program that listens and lives as long as the block."""
    with log.open("w") as output:
        environment = os.environ | environment
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
        try:
            wait_for(port, process)
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(port: int, process: subprocess.Popen) -> None:
    for _ in range(200):
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"{process.args[0]} does not listen")


def report(runs: list[Run]) -> int:
    notes = [note for run in runs for note in run.notes()]
    head = ["adapter", "role", "suite", "rows", "checks", "skipped", "seconds"]
    table = [head, *(run.line() for run in runs)]
    widths = [max(map(len, column)) for column in zip(*table)]
    print()
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    for note in notes:
        print(f"    {note}")
    failed = sum(not run.passed(row) for run in runs for row in run.rows)
    print(f"\n{failed} rows failed" if failed else "\nevery row passed", f"(details in {RESULTS})")
    return 1 if failed or not any(run.rows for run in runs) else 0


def install() -> None:
    """The suites and their Node, exactly as the lock file says; a second run finds them there."""
    WORK.mkdir(parents=True, exist_ok=True)
    lock = (HERE / "suite" / "package-lock.json").read_bytes()
    stamp = WORK / "installed"
    if not stamp.exists() or stamp.read_bytes() != lock:
        for name in ["package.json", "package-lock.json"]:
            (WORK / name).write_bytes((HERE / "suite" / name).read_bytes())
        call("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", cwd=WORK)
        stamp.write_bytes(lock)


def call(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, stdin=subprocess.DEVNULL)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs the official conformance suite against ours.")
    parser.add_argument("adapters", nargs="*", metavar="ADAPTER", help="tokio or smol (both by default)")
    parser.add_argument("--role", choices=list(ROLES), help="only this role")
    parser.add_argument("--suite", choices=[suite.name for suite in SUITES], help="only this suite")
    parser.add_argument("--scenario", help="only this row")
    parser.add_argument("--url", help="test the server that listens there")
    parser.add_argument("--command", help="test the client that this starts; the server's URL is appended")
    options = parser.parse_args()
    options.adapters = options.adapters or ADAPTERS
    if not set(options.adapters) <= set(ADAPTERS):
        parser.error(f"no adapters: {options.adapters}")
    return options


if __name__ == "__main__":
    sys.exit(main())
