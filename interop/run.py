#!/usr/bin/env python3
"""Real peers: clients and servers of the official SDKs against ours, feature by feature.

Usage: run.py [ADAPTER...] [--transport NAME] [--peer NAME] [--revision REVISION]

ADAPTER is tokio, smol (both by default) or none, which runs the SDKs against each other and says nothing of ours.
Installs the pinned SDKs below target/interop, builds the programs, runs every pair over every transport in every revision
that both speak and prints a table for each peer. Fails when a feature of the revision is missing that the peer does not
lack.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from logins import Programs, logins
from processes import free_address, serving
from proxies import ROWS, proxied, rows

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
WORK = TARGET / "interop"
PYTHON = WORK / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
TYPESCRIPT = WORK / "typescript"
RUST = WORK / "rust" / "debug"
PROGRAM = ".exe" if os.name == "nt" else ""

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
ALL = [*LEGACY, MODERN]

# What there is to speak over, with the path of a URL and the revisions that have it.
TRANSPORTS = {"stdio": ("", ALL), "http": ("/mcp", ALL[1:]), "sse": ("/sse", ALL[:1])}
# A protected server over HTTP, one behind nginx, and servers behind our proxy, with tables of their own.
LOGIN = "login"
NGINX = "nginx"
PROXY = "proxy"

# What is driven, with the revisions that have it.
FEATURES = {
    "negotiate": ALL,
    "ping": LEGACY,
    "list": ALL,
    "call": ALL,
    "content": ALL,
    "structured": ALL[2:],
    "errors": ALL,
    "progress": ALL,
    "cancel": ALL,
    "logging": ALL,
    "elicit": ALL[2:],
    "elicit-url": ALL[3:],
    "sampling": ALL,
    "roots": ALL,
    "rounds": [MODERN],
    "resources": ALL,
    "templates": ALL,
    "subscribe": ALL,
    "changes": ALL,
    "prompts": ALL,
    "complete": ALL,
    "skills": ALL[3:],
    "directories": ALL[3:],
    "tasks": [MODERN],
    "task-input": [MODERN],
    "task-errors": [MODERN],
    "task-cancel": [MODERN],
    "task-listen": [MODERN],
    "close": ALL,
}
NO_SKILLS = {feature: "the SDK knows no skills" for feature in ["skills", "directories"]}
NO_TASKS = {feature: "the SDK knows no tasks of 2026-07-28" for feature in FEATURES if feature.startswith("task")}
# The tasks of 2025-11-25 of the one SDK that has them. Its store keeps no errors of JSON-RPC.
SERVED_TASKS = {feature: LEGACY[3:] for feature in ["tasks", "task-input", "task-cancel"]}
# What a proxy does not pass on, in each revision of its caller, and what a legacy server has not for a caller of 2026-07-28.
BEHIND_PROXY = {
    "list": "the pages are those of the proxy",
    "changes": "the tool changes a list of its caller's process, and lists are those of a process that callers share",
    "skills": "a proxy passes no extension but tasks on",
    "directories": "a proxy passes no extension but tasks on",
}
BEHIND_PROXY_MODERN = {"subscribe": "the tool changes a resource of its caller's process, which lasts as long as a call"}
LOGS_OR_TASKS = {"logging": "a session with tasks is shared, and log messages do not say which call they are of"}
LEGACY_BEHIND_PROXY = {feature: "the server is of another era" for feature in ["rounds", "task-input", "task-errors"]}

ADAPTERS = ["tokio", "smol"]


@dataclass
class Peer:
    """A client or a server written with one of the SDKs."""

    name: str
    command: list[str]
    revisions: list[str]
    transports: list[str] = field(default_factory=lambda: ["stdio", "http"])
    # A client that always offers its newest revision meets a server that speaks only the wanted one.
    offers: bool = True
    # What a server cannot do, with the reason; clients say it themselves.
    lacks: dict[str, str] = field(default_factory=dict)
    # The revisions of what only this server has there.
    more: dict[str, list[str]] = field(default_factory=dict)


EVERY = list(TRANSPORTS)
CLIENTS = [
    Peer("python mcp 2.3.0", [str(PYTHON), str(HERE / "python" / "client.py")], ALL, EVERY, offers=False),
    Peer("typescript sdk 1.32.2", ["node", str(TYPESCRIPT / "client-v1.mjs")], LEGACY, EVERY, offers=False),
    Peer("typescript client 2.4.0", ["node", str(TYPESCRIPT / "client.mjs")], ALL),
    Peer("rust rmcp 3.11.0", [str(RUST / f"client{PROGRAM}")], ALL),
]
SERVERS = [
    Peer("python mcp 2.3.0", [str(PYTHON), str(HERE / "python" / "server.py")], ALL, EVERY, lacks=NO_SKILLS | NO_TASKS),
    Peer("typescript sdk 1.32.2", ["node", str(TYPESCRIPT / "server-v1.mjs")], LEGACY, EVERY, lacks=NO_SKILLS, more=SERVED_TASKS),
    Peer("typescript server 2.4.0", ["node", str(TYPESCRIPT / "server.mjs")], ALL, lacks=NO_TASKS),
    Peer("rust rmcp 3.11.0", [str(RUST / f"server{PROGRAM}")], ALL),
]

# Tasks of 2025-11-25 without an extension: of the SDKs only this one has them. It drives the fixture for tasks.
CORE_TASKS = {feature: LEGACY[3:] for feature in ["tasks", "task-input", "task-errors", "task-cancel", "close"]}
CORE_CLIENT = Peer("typescript sdk 1.32.2", ["node", str(TYPESCRIPT / "tasks-v1.mjs")], LEGACY[3:])


@dataclass
class Table:
    """What one peer did in each revision."""

    title: str
    features: dict[str, list[str]] = field(default_factory=lambda: FEATURES)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)  # revision -> feature -> mark
    notes: list[str] = field(default_factory=list)

    def add(self, revision: str, lines: dict[str, dict], lacks: dict[str, str], error: str) -> None:
        column = self.columns[revision] = {}
        lacking: dict[str, list[str]] = {}
        for feature, revisions in self.features.items():
            line = lines.get(feature, {"ok": False, "detail": "not reported"})
            reason = lacks.get(feature, line.get("lacks"))
            if revision not in revisions:
                column[feature] = "-"
            elif reason:
                column[feature] = "lacks"
                lacking.setdefault(reason, []).append(feature)
            elif line["ok"]:
                column[feature] = "yes"
            else:
                column[feature] = "NO"
                self.note(f"NO {feature} in {revision}: {line.get('detail')}")
        for reason, features in lacking.items():
            self.note(f"lacks {', '.join(features)} in {revision}: {reason}")
        if error:
            column["close"] = "NO"
            self.note(f"NO close in {revision}: {error}")

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def is_empty(self) -> bool:
        return not self.columns

    def print(self) -> None:
        print(f"\n{self.title}\n{'':<12}" + "".join(f"{revision:<12}" for revision in self.columns))
        for feature in self.features:
            print(f"{feature:<12}" + "".join(f"{column[feature]:<12}" for column in self.columns.values()).rstrip())
        for note in self.notes:
            print(f"    {note}")
        sys.stdout.flush()

    def failures(self) -> int:
        return sum(mark == "NO" for column in self.columns.values() for mark in column.values())


def main() -> int:
    options = arguments()
    install()
    if options.adapters != ["none"]:
        call(ROOT / "scripts" / "programs.sh")
    began = time.monotonic()
    failures = 0
    for table in tables(options):
        if table.is_empty():
            continue
        table.print()
        failures += table.failures()
    took = time.monotonic() - began
    print(f"\n{failures} features are missing" if failures else "\nevery feature works with every peer that has it", f"({took:.0f} s)")
    return 1 if failures and options.adapters != ["none"] else 0


def tables(options: argparse.Namespace):
    """Every table, as soon as its pairs have run."""
    for adapter in options.adapters:
        for transport in options.transport or [*TRANSPORTS, LOGIN, NGINX, PROXY]:
            if transport == LOGIN:
                if adapter != "none":
                    yield logins(adapter, programs(adapter), options.peer or "", options.revision or ALL)
            elif transport == NGINX:
                if adapter != "none" and not options.peer:
                    yield behind_nginx(options, adapter)
            elif transport == PROXY:
                # The program that serves the proxy runs on one of the adapters.
                if adapter == "tokio":
                    yield from behind_proxy(options, adapter)
            elif adapter == "none":
                yield from among_themselves(options, transport)
            else:
                yield from ours(options, adapter, transport)
                yield from core_tasks(options, adapter, transport)


def ours(options: argparse.Namespace, adapter: str, transport: str):
    everything, drive = program("everything", adapter), program("drive", adapter)
    for client in wanted(options, transport, CLIENTS):
        table = Table(f"{client.name} drives everything on mcp-{adapter} over {transport}")
        for revision in revisions(options, transport, client):
            only = [] if client.offers or revision in (LEGACY[-1], MODERN) else ["--revisions", revision]
            with reach(transport, [*everything, *only]) as server:
                table.add(revision, *run([*client.command, revision, *server], {}))
        yield table
    for server in wanted(options, transport, SERVERS):
        table = Table(f"mcp-{adapter} drives {server.name} over {transport}", FEATURES | server.more)
        for revision in revisions(options, transport, server):
            # With every revision allowed it must find the newest by itself: a probe, then the handshake if need be.
            only = [] if revision == server.revisions[-1] else ["--revisions", revision]
            with reach(transport, server.command) as words:
                table.add(revision, *run([*drive, *only, "--expect", revision, "--", *words], server.lacks))
        yield table


def behind_nginx(options: argparse.Namespace, adapter: str) -> Table:
    """Our client and our server, with nginx as the guide on deployment configures it between them."""
    _, over_http = TRANSPORTS["http"]
    features = FEATURES | {row: [LEGACY[-1]] for row in ROWS}
    table = Table(f"mcp-{adapter} drives everything on mcp-{adapter} behind nginx", features)
    server = free_address()
    with (
        serving([*program("everything", adapter), "--http", server], server, WORK / "server.log"),
        proxied(server, WORK / "nginx") as (plain, secure),
    ):
        for revision in [one for one in over_http if one in (options.revision or ALL)]:
            driver = [*program("drive", adapter), "--revisions", revision, "--expect", revision, "--", f"http://{plain}/mcp"]
            lines, lacks, error = run(driver, {})
            if revision in features[ROWS[0]]:
                lines |= rows(secure)
            table.add(revision, lines, lacks, error)
    return table


def behind_proxy(options: argparse.Namespace, adapter: str):
    """Servers of the SDKs behind our proxy, which speaks their newest revision, for our client in both eras."""
    proxy = [str(TARGET / "debug" / f"mcp-cmd{PROGRAM}"), "--quiet", "proxy", "--"]
    for server in wanted(options, "stdio", SERVERS):
        table = Table(f"mcp-{adapter} drives {server.name} behind mcp-cmd proxy, which speaks {server.revisions[-1]} with it")
        for revision in [one for one in (LEGACY[-1], MODERN) if one in (options.revision or ALL)]:
            lacks = server.lacks | BEHIND_PROXY
            if revision == MODERN and MODERN in server.revisions and "tasks" not in server.lacks:
                lacks |= LOGS_OR_TASKS
            if revision == MODERN:
                lacks |= BEHIND_PROXY_MODERN | (LEGACY_BEHIND_PROXY if MODERN not in server.revisions else {})
            words = ["--revisions", revision, "--expect", revision, "--without", ",".join(lacks), "--", *proxy, *server.command]
            table.add(revision, *run([*program("drive", adapter), *words], lacks))
        yield table


def core_tasks(options: argparse.Namespace, adapter: str, transport: str):
    fixture = [*program("fixture", adapter), "tasks"]
    for client in wanted(options, transport, [CORE_CLIENT]):
        table = Table(f"{client.name} drives tasks of 2025-11-25 on mcp-{adapter} over {transport}", CORE_TASKS)
        for revision in revisions(options, transport, client):
            if transport == "stdio":
                table.add(revision, *run([*client.command, revision, *fixture, "stdio", "--core"], {}))
                continue
            address = free_address()
            with serving([*fixture, "http", address.split(":")[1], "--core"], address, WORK / "server.log"):
                table.add(revision, *run([*client.command, revision, f"http://{address}/mcp"], {}))
        yield table


def among_themselves(options: argparse.Namespace, transport: str):
    for client in wanted(options, transport, CLIENTS):
        for server in SERVERS:
            if transport not in server.transports:
                continue
            table = Table(f"{client.name} drives {server.name} over {transport}")
            for revision in revisions(options, transport, client, server):
                if client.offers or revision in (LEGACY[-1], MODERN):
                    with reach(transport, server.command) as words:
                        table.add(revision, *run([*client.command, revision, *words], server.lacks))
            yield table


def wanted(options: argparse.Namespace, transport: str, peers: list[Peer]) -> list[Peer]:
    return [peer for peer in peers if transport in peer.transports and (options.peer or "") in peer.name]


def revisions(options: argparse.Namespace, transport: str, *peers: Peer) -> list[str]:
    some = [one for one in TRANSPORTS[transport][1] if all(one in peer.revisions for peer in peers)]
    return [one for one in some if one in (options.revision or ALL)]


@contextmanager
def reach(transport: str, command: list[str]):
    """The words by which a client reaches the server: its command, or the URL at which it listens meanwhile."""
    if transport == "stdio":
        yield command
        return
    address = free_address()
    with serving([*command, "--http", address], address, WORK / "server.log"):
        yield [f"http://{address}{TRANSPORTS[transport][0]}"]


def run(command: list[str], lacks: dict[str, str]) -> tuple[dict[str, dict], dict[str, str], str]:
    """What the driver reported by feature, what its server lacks, and what went wrong with the driver itself."""
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", timeout=240)
    except subprocess.TimeoutExpired as late:
        return {}, lacks, f"did not end: {late.stderr}"
    lines = {line["feature"]: line for line in map(json.loads, ended.stdout.splitlines())}
    return lines, lacks, "" if ended.returncode == 0 else f"status {ended.returncode}\n{ended.stderr}"


def program(name: str, adapter: str) -> list[str]:
    return [str(TARGET / "debug" / f"{name}{PROGRAM}"), "--runtime", adapter]


def programs(adapter: str) -> Programs:
    """What takes part in logins."""
    return Programs(
        fixture=program("fixture", adapter),
        issuer=[*program("authorization-server", adapter), "--consent", "auto", "--port"],
        clients={
            "python mcp 2.3.0": [str(PYTHON), str(HERE / "python" / "login_client.py")],
            "typescript client 2.4.0": ["node", str(TYPESCRIPT / "login-client.mjs")],
            "rust rmcp 3.11.0": [str(RUST / f"login{PROGRAM}")],
            "mcp-cmd": [str(PYTHON), str(HERE / "python" / "login_cmd.py"), str(TARGET / "debug" / f"mcp-cmd{PROGRAM}")],
        },
        servers={
            "python mcp 2.3.0": [str(PYTHON), str(HERE / "python" / "login_server.py")],
            "python fastmcp 4.2.3": [str(PYTHON), str(HERE / "python" / "login_fastmcp.py")],
            "typescript server 2.4.0": ["node", str(TYPESCRIPT / "login-server.mjs")],
        },
        issuers={"oidc-provider 9.13.3": ["node", str(TYPESCRIPT / "login-issuer.mjs")]},
        log=WORK / "login.log",
    )


def install() -> None:
    """Every SDK, exactly as the lock files say; a second run finds them there."""
    install_python()
    # Modules look for their packages next to themselves.
    TYPESCRIPT.mkdir(parents=True, exist_ok=True)
    for source in [*(HERE / "typescript").glob("*.mjs"), HERE / "typescript" / "package.json"]:
        (TYPESCRIPT / source.name).write_bytes(source.read_bytes())
    lock = (HERE / "typescript" / "package-lock.json").read_bytes()
    stamp = TYPESCRIPT / "installed"
    if not stamp.exists() or stamp.read_bytes() != lock:
        (TYPESCRIPT / "package-lock.json").write_bytes(lock)
        call("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", cwd=TYPESCRIPT)
        stamp.write_bytes(lock)
    call("cargo", "build", "--quiet", "--locked", "--bins", "--target-dir", WORK / "rust", cwd=HERE / "rust")


def install_python() -> None:
    requirements = (HERE / "python" / "requirements.txt").read_text()
    stamp = WORK / "venv" / "installed"
    if not stamp.exists() or stamp.read_text() != requirements:
        call(sys.executable, "-m", "venv", "--clear", WORK / "venv")
        call(PYTHON, "-m", "pip", "install", "--quiet", "--requirement", HERE / "python" / "requirements.txt")
        stamp.write_text(requirements)


def call(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, stdin=subprocess.DEVNULL)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs the official SDKs against ours.")
    parser.add_argument("adapters", nargs="*", metavar="ADAPTER", help="tokio, smol (both by default) or none")
    parser.add_argument("--transport", action="append", choices=[*TRANSPORTS, LOGIN, NGINX, PROXY], help="only over this; may be repeated")
    parser.add_argument("--peer", help="only peers whose name contains this")
    parser.add_argument("--revision", action="append", choices=ALL, help="only this revision; may be repeated")
    options = parser.parse_args()
    options.adapters = options.adapters or ADAPTERS
    if options.adapters != ["none"] and not set(options.adapters) <= set(ADAPTERS):
        parser.error(f"no adapters: {options.adapters}")
    return options


if __name__ == "__main__":
    sys.exit(main())
