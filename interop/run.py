#!/usr/bin/env python3
"""Real peers: clients and servers of the official Python and TypeScript SDKs against ours, over stdio.

Usage: run.py [ADAPTER...]    ADAPTER: tokio, smol (both by default), or none to run the SDKs against each other

Installs the pinned SDKs below target/interop, builds the example programs, runs every pair, prints a table
and fails when any step of any pair is missing.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
WORK = TARGET / "interop"
PYTHON = WORK / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
TYPESCRIPT = WORK / "typescript"
STEPS = ["initialised", "listed", "called", "closed"]
LEGACY, MODERN = "2025-11-25", "2026-07-28"

# Examples of two crates share one folder, so those of one adapter carry its name.
EXAMPLES = {"tokio": ("mcp-tokio", ""), "smol": ("mcp-smol", "smol_")}


@dataclass
class Pair:
    client: str
    server: str
    mode: str
    revision: str  # that the pair must agree on
    command: list[str]


def main(adapters: list[str]) -> int:
    install()
    if adapters != ["none"]:
        build(adapters)
    failed = 0
    width = "{:<20} {:<18} {:<12} {:<12} {}"
    print(width.format("client", "server", "mode", "revision", "  ".join(STEPS)))
    for pair in pairs(adapters):
        steps, revision, error = run(pair)
        marks = "  ".join(("yes" if step in steps else "NO").center(len(step)) for step in STEPS)
        print(width.format(pair.client, pair.server, pair.mode, revision or "-", marks), flush=True)
        if steps != STEPS or revision != pair.revision or error:
            failed += 1
            print(f"    expected {pair.revision}; {error}", flush=True)
    print(f"{failed} pairs failed" if failed else "every pair agreed")
    return 1 if failed else 0


def pairs(adapters: list[str]) -> list[Pair]:
    python_client = [str(PYTHON), str(HERE / "python" / "client.py")]
    python_server = [str(PYTHON), str(HERE / "python" / "server.py")]
    typescript_client = ["node", str(TYPESCRIPT / "client.mjs")]
    typescript_server = ["node", str(TYPESCRIPT / "server.mjs")]
    found = []

    def add(client: str, server: str, mode: str, revision: str, client_command: list[str], server_command: list[str]) -> None:
        found.append(Pair(client, server, mode, revision, [*client_command, mode, *server_command]))

    if adapters == ["none"]:
        add("python", "typescript", "auto", LEGACY, python_client, typescript_server)
        add("typescript", "python", "legacy", LEGACY, typescript_client, python_server)
        return found
    for adapter in adapters:
        ours = f"mcp-{adapter}"
        server, client = [example(adapter, "echo")], [example(adapter, "echo_client")]
        for mode, revision in [("legacy", LEGACY), ("auto", MODERN), (MODERN, MODERN)]:
            add("python", ours, mode, revision, python_client, server)
        add("typescript", ours, "legacy", LEGACY, typescript_client, server)
        for mode, revision in [("legacy", LEGACY), ("auto", MODERN), (MODERN, MODERN)]:
            add(ours, "python", mode, revision, client, python_server)
        for mode in ["legacy", "auto"]:
            add(ours, "typescript", mode, LEGACY, client, typescript_server)
    return found


def run(pair: Pair) -> tuple[list[str], str | None, str | None]:
    """The steps that were reported, the agreed revision, and what went wrong."""
    try:
        ended = subprocess.run(pair.command, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", timeout=60)
    except subprocess.TimeoutExpired as late:
        return [], None, f"did not end: {late.stderr}"
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    revision = next((line.get("revision") for line in lines if line["step"] == "initialised"), None)
    error = None if ended.returncode == 0 else f"status {ended.returncode}\n{ended.stderr}"
    return [line["step"] for line in lines], revision, error


def build(adapters: list[str]) -> None:
    for adapter in adapters:
        package, prefix = EXAMPLES[adapter]
        call("cargo", "build", "--quiet", "--package", package, "--example", f"{prefix}echo", "--example", f"{prefix}echo_client")


def example(adapter: str, name: str) -> str:
    suffix = ".exe" if os.name == "nt" else ""
    return str(TARGET / "debug" / "examples" / f"{EXAMPLES[adapter][1]}{name}{suffix}")


def install() -> None:
    """Both SDKs, exactly as the lock files say; a second run finds them there."""
    requirements = (HERE / "python" / "requirements.txt").read_text()
    stamp = WORK / "venv" / "installed"
    if not stamp.exists() or stamp.read_text() != requirements:
        call(sys.executable, "-m", "venv", "--clear", WORK / "venv")
        call(PYTHON, "-m", "pip", "install", "--quiet", "--requirement", HERE / "python" / "requirements.txt")
        stamp.write_text(requirements)
    TYPESCRIPT.mkdir(parents=True, exist_ok=True)
    for name in ["client.mjs", "server.mjs", "package.json"]:
        (TYPESCRIPT / name).write_bytes((HERE / "typescript" / name).read_bytes())
    lock = (HERE / "typescript" / "package-lock.json").read_bytes()
    stamp = TYPESCRIPT / "installed"
    if not stamp.exists() or stamp.read_bytes() != lock:
        (TYPESCRIPT / "package-lock.json").write_bytes(lock)
        call("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", cwd=TYPESCRIPT)
        stamp.write_bytes(lock)


def call(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["tokio", "smol"]))
