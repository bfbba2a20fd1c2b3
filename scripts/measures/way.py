"""Files on the way of one call: those of which a line runs in each of many calls of `tools/call`, seen by callgrind."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benches"))

import callgrind

ERAS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
# Calls before those that are counted, and so many more: the difference is without start-up and what happens now and then.
FEW, MORE = 16, 64
SERVER = "mcp-tokio"


def ways(crates):
    """The files of these crates on each way: of a server and of a client, on a pipe and over HTTP, in a revision of either era."""
    program = callgrind.build(callgrind.HTTP, "--features", "client", profile="way")
    runs = {"server, pipe": pipe_server, "server, HTTP": http_server, "client, pipe": pipe_client, "client, HTTP": http_client}
    folders = [f"{ROOT / crate / 'src'}/" for crate in crates]
    return {f"{name}, {revision}": files(program, run, era, folders) for name, run in runs.items() for era, revision in ERAS.items()}


def files(program, run, era, folders):
    with tempfile.TemporaryDirectory() as folder:
        costs = []
        for calls in (FEW, FEW + MORE):
            output = Path(folder) / str(calls)
            run(program, era, calls, output)
            costs.append(callgrind.by_line(output))
    few, more = costs
    # An instruction for each call at least.
    grown = {file for file, line in more if more[file, line] - few[file, line] >= MORE}
    return sorted(str(Path(file).relative_to(ROOT)) for file in grown if file.startswith(tuple(folders)))


def http_server(program, era, calls, output):
    callgrind.serve(program, SERVER, era, calls, output)


def pipe_server(program, era, calls, output):
    lines = subprocess.run([program, "lines", era, str(calls)], check=True, capture_output=True, text=True).stdout.splitlines()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*callgrind.under(output), program, "pipe"], text=True, **pipes) as server:
        for line in lines:
            print(line, file=server.stdin, flush=True)
            if '"id"' in line and '"result"' not in server.stdout.readline():
                raise SystemExit("a call on a pipe was not answered")


def pipe_client(program, era, calls, output, *port):
    subprocess.run([*callgrind.under(output), program, "call", era, str(calls), *port], check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def http_client(program, era, calls, output):
    with subprocess.Popen([program, "serve", SERVER], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        try:
            pipe_client(program, era, calls, output, server.stdout.readline().strip())
        finally:
            server.stdin.close()
