"""The figures of `run --long`: this server, rmcp and FastMCP under the same load, with one process and with two.

The load, the balancer, the servers and the store share the cores of one machine, so that the rates are those of all of them
together: the processor time of the servers for a call is what compares servers.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from balancer import Balancer
from load import Calls
from machines import Process, Server, Store

HERE = Path(__file__).parent
LOAD = HERE / "load.py"
SECONDS = 3
REVISIONS = {"sessions of 2025-11-25": "2025-11-25", "2026-07-28": "2026-07-28"}


class Ours(Server):
    program = None

    def command(self):
        return [self.program, *super().command()[1:]]


class Rmcp(Process):
    program = None

    def command(self):
        return [self.program, "--http", f"127.0.0.1:{self.port}"]


class FastMcp(Process):
    program = None

    def command(self):
        return [self.program, HERE / "peers/fastmcp_server.py", str(self.port)]


def install(root):
    """Builds the servers with optimizations, and installs FastMCP below target/fleet. Returns the peers by their names."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target")).resolve()
    cargo = ["cargo", "build", "--quiet", "--release", "--locked"]
    subprocess.run(cargo, cwd=HERE, check=True)
    rust = root / "interop/rust"
    subprocess.run([*cargo, "--bin", "server", "--target-dir", target / "interop/rust"], cwd=rust, check=True)
    venv, required = target / "fleet/venv", (HERE / "peers/requirements.txt").read_text()
    stamp = venv / "installed"
    if not stamp.exists() or stamp.read_text() != required:
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        pip = [venv / "bin/python", "-m", "pip", "install", "--quiet", "--requirement", HERE / "peers/requirements.txt"]
        subprocess.run(pip, check=True)
        stamp.write_text(required)
    Ours.program = str(HERE / "target/release/fleet")
    Rmcp.program = str(target / "interop/rust/release/server")
    FastMcp.program = str(venv / "bin/python")
    version = re.search(r"fastmcp==(\S+)", required)[1]
    rmcp = re.search(r'rmcp = \{ version = "=([^"]+)"', (rust / "Cargo.toml").read_text())[1]
    return {"this server": Ours, f"rmcp {rmcp}": Rmcp, f"FastMCP {version}": FastMcp}


def load(port, revision, threads, seconds, patient=False):
    settings = {"port": port, "revision": revision, "threads": threads, "seconds": seconds, "patient": patient}
    return subprocess.Popen([sys.executable, LOAD, json.dumps(settings)], stdout=subprocess.PIPE, text=True)


def measured(loads):
    results = [json.loads(each.communicate(timeout=120)[0]) for each in loads]
    done = [each for result in results for each in result["done"]]
    return done, *(sum(result[name] for result in results) for name in ("refused", "lost"))


def processor(processes):
    """The processor time of processes in seconds."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def percentile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))] * 1000 if times else float("nan")


def throughput(port, servers, revision):
    before = processor(servers)
    done, refused, _ = measured([load(port, revision, 4, SECONDS) for _ in range(2)])
    used = processor(servers) - before
    return [
        f"{max(0, len(done) - refused) / SECONDS:.0f}/s",
        f"{used * 1e6 / max(1, len(done)):.0f} µs",
        f"{percentile([took for _, took in done], 0.99):.1f} ms",
    ]


def reached(port, revision):
    """The share of calls that are answered when each of them has a connection of its own."""
    answered = 0
    for _ in range(4):
        calls = Calls(port, revision)
        calls.begin()
        for _ in range(10):
            answered += calls.attempt()
            calls.connection.close()
    return [f"{100 * answered / 40:.0f} %"]


def killed(balancer, servers, revision):
    """One of two processes is killed under load. Clients repeat what fails, and open sessions anew that are lost."""
    loads = [load(balancer.port, revision, 4, 13, patient=True)]
    time.sleep(4)
    at = time.time()
    servers[0].kill()
    done, refused, lost = measured(loads)
    before = [took for when, took in done if when < at]
    after = [took for when, took in done if when >= at]
    servers[0].start()
    return [
        f"{percentile(before, 0.99):.1f} ms",
        f"{percentile(after, 0.99):.1f} ms",
        f"{max(after, default=float('nan')):.2f} s",
        str(refused),
        str(lost),
    ]


def table(title, names, rows):
    rows = [names, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
    print(f"\n{title}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def cost(servers, port, calls):
    """The processor time of all servers for one call of these clients, in microseconds."""
    for each in calls:
        each.connection.port = port
        each.connection.close()
    total = 0
    for timed in (False, True):
        before, end, total = processor(servers), time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            for each in calls:
                each.ask()
            for each in calls:
                each.answered()
            total += len(calls)
    return (processor(servers) - before) * 1e6 / total


def costs():
    """Calls of the same sessions: without a store, at their owner, and at another process that forwards them."""
    rows, store = [], Store()
    store.start()
    alone = Ours("cost-alone")
    shared = [Ours(f"cost-{number}", store=store.url) for number in range(2)]
    try:
        for server in [alone, *shared]:
            server.start()

        def sessions(server, count):
            calls = [Calls(server.port, REVISIONS["sessions of 2025-11-25"]) for _ in range(count)]
            for each in calls:
                each.begin()
            return calls

        for count in (1, 4, 16, 48):
            unshared = cost([alone], alone.port, sessions(alone, count))
            calls = sessions(shared[0], count)
            owned, forwarded = (cost(shared, server.port, calls) for server in shared)
            for name, value in (("not shared", unshared), ("shared, at its owner", owned), ("shared, forwarded", forwarded)):
                rows.append([str(count), name, f"{value:.0f} µs", f"{value / unshared:.2f}", f"{value / owned:.2f}"])
    finally:
        for server in [alone, *shared]:
            server.kill()
        store.stop()
    names = ["at once", "session", "time", "of not shared", "of the owner's"]
    table("processor time of all servers for a call in a session, so many calls at once", names, rows)


def run(root):
    peers = install(root)
    began = time.monotonic()
    costs()
    rates, kills = [], []
    for name, peer in peers.items():
        for count in (1, 2):
            store = Store() if peer is Ours else None
            servers, balancer = [], None
            try:
                if store:
                    store.start()
                options = {"store": store.url} if store else {}
                servers = [peer(f"long-{number}", **options) for number in range(count)]
                for server in servers:
                    server.start()
                balancer = Balancer([server.port for server in servers])
                for kind, revision in REVISIONS.items():
                    rate = throughput(balancer.port, servers, revision)
                    rates.append([name, str(count), kind, *rate, *reached(balancer.port, revision)])
                    if count == 2:
                        kills.append([name, kind, *killed(balancer, servers, revision)])
            finally:
                if balancer:
                    balancer.close()
                for server in servers:
                    server.kill()
                if store:
                    store.stop()
    table(
        f"8 clients through the balancer, {os.cpu_count()} cores for all; processor time of the servers for a call",
        ["server", "processes", "calls", "rate", "processor", "p99", "answered on any connection"],
        rates,
    )
    table(
        "4 clients, and one of two processes is killed; what fails is repeated",
        ["server", "calls", "p99 before", "p99 after", "longest", "refused", "sessions lost"],
        kills,
    )
    print(f"{time.monotonic() - began:.0f} s")
