"""Logins: clients at protected servers, by the code grant with registration.

One side is ours. The tokens are those of the example authorization-server, or of oidc-provider, and the server verifies them
with the published keys of the issuer. Or our server is the authorization server, and its users log in at oidc-provider, where
clients cannot register.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from processes import free_address, serving

# Authorization by metadata of the resource works alike in both eras; a client chooses one.
REVISIONS = ["2025-11-25", "2026-07-28"]


@dataclass
class Programs:
    """What runs, as commands to which arguments are appended."""

    # The fixture of the adapter under test, and the example authorization-server.
    fixture: list[str]
    issuer: list[str]
    # By the name of the SDK.
    clients: dict[str, list[str]]
    servers: dict[str, list[str]]
    # Authorization servers of others.
    issuers: dict[str, list[str]]
    log: Path


@dataclass
class Logins:
    """The table of one adapter: a row for each pair."""

    adapter: str
    rows: dict[str, dict[str, str]] = field(default_factory=dict)  # pair -> revision -> mark
    notes: list[str] = field(default_factory=list)

    def is_empty(self) -> bool:
        return not self.rows

    def print(self) -> None:
        width = max(map(len, self.rows))
        print(f"\nlogins on mcp-{self.adapter}\n{'':<{width}}  " + "".join(f"{revision:<12}" for revision in REVISIONS))
        for pair, marks in self.rows.items():
            print(f"{pair:<{width}}  " + "".join(f"{marks.get(one, '-'):<12}" for one in REVISIONS).rstrip())
        for note in self.notes:
            print(f"    {note}")

    def failures(self) -> int:
        return sum(mark == "NO" for marks in self.rows.values() for mark in marks.values())

    def add(self, pair: str, revision: str, wrong: str) -> None:
        self.rows.setdefault(pair, {})[revision] = "NO" if wrong else "yes"
        if wrong:
            self.notes.append(f"NO {pair} in {revision}: {wrong}")


def logins(adapter: str, programs: Programs, peer: str, revisions: list[str]) -> Logins:
    """Every pair in which a peer of this name takes part."""
    table = Logins(adapter)
    ours = f"mcp-{adapter}"
    revisions = [revision for revision in REVISIONS if revision in revisions]
    with issuing(programs, programs.issuer) as issuer, protected(programs, issuer) as url:
        for name, client in programs.clients.items():
            for revision in revisions if peer in name else []:
                table.add(f"{name} at {ours}", revision, drive([*client, revision, url]))
        for name, server in programs.servers.items():
            if peer in name:
                address = free_address()
                with serving([*server, address, issuer], address, programs.log):
                    for revision in revisions:
                        table.add(f"{ours} at {name}", revision, ask(programs, revision, f"http://{address}/mcp"))
    for provider, command in programs.issuers.items():
        with delegated(programs, command) as url:
            for name, client in programs.clients.items():
                for revision in revisions if peer in name + provider else []:
                    table.add(f"{name} at {ours}, logins at {provider}", revision, drive([*client, revision, url]))
            for revision in revisions if peer in provider else []:
                table.add(f"{ours} at {ours}, logins at {provider}", revision, ask(programs, revision, url))
    for name, command in programs.issuers.items():
        if peer in name:
            with issuing(programs, command) as issuer, protected(programs, issuer) as url:
                for revision in revisions:
                    table.add(f"{ours} at {ours}, {name}", revision, ask(programs, revision, url))
    return table


@contextmanager
def issuing(programs: Programs, command: list[str]) -> Iterator[str]:
    """The issuer of an authorization server, which redirects at once."""
    address = free_address()
    port = address.rpartition(":")[2]
    with serving([*command, port], address, programs.log.with_suffix(".issuer.log")):
        yield f"http://localhost:{port}"


@contextmanager
def protected(programs: Programs, issuer: str) -> Iterator[str]:
    """The URL of our protected server."""
    address = free_address()
    command = [*programs.fixture, "http-auth", address.rpartition(":")[2]]
    with serving(command, address, programs.log.with_suffix(".protected.log"), MCP_AUTH_ISSUER=issuer):
        yield f"http://{address}/mcp"


@contextmanager
def delegated(programs: Programs, provider: list[str]) -> Iterator[str]:
    """The URL of our server whose users log in at a provider without registration."""
    address, port = free_address(), free_address().rpartition(":")[2]
    command = [*programs.fixture, "http-auth", address.rpartition(":")[2]]
    logs = [programs.log.with_suffix(f".{name}.log") for name in ("provider", "delegated")]
    with (
        serving([*provider, port, f"http://{address}/callback"], f"127.0.0.1:{port}", logs[0]),
        serving(command, address, logs[1], MCP_AUTH_PROVIDER=f"http://localhost:{port}"),
    ):
        yield f"http://{address}/mcp"


def ask(programs: Programs, revision: str, url: str) -> str:
    """What is wrong when our client logs in, lists the tools and calls one."""
    return drive([*programs.fixture, "client", "oauth", url], MCP_REV=revision, MCP_OP_TIMEOUT_MS="60000")


def drive(command: list[str], **environment: str) -> str:
    try:
        environment = os.environ | environment
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, env=environment)
    except subprocess.TimeoutExpired as late:
        return f"did not end: {late.stderr}"
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    wrong = [line.get("detail") or line.get("error") for line in lines if not line.get("ok", True)]
    steps = [line.get("feature") or line["op"] for line in lines]
    if ended.returncode != 0 or wrong:
        return f"{wrong or f'status {ended.returncode}'} {ended.stderr.strip()}"
    # Without a page, nobody has logged in.
    is_whole = "call" in steps and ("log in" in steps or "open" in steps)
    return "" if is_whole else f"the steps were {steps}"
