"""Files on the way of one call: those of which a line runs in each of many calls of `tools/call`, seen by callgrind; and how often
the call reads a text from its first byte to its last."""

import re
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
# The functions that validate the text of a message or of an array.
PARSE = re.compile(r"::(Message|OwnedMessages(<.*>)?)>?::parse$")


def ways(crates):
    """The files of these crates on each way, and the texts that are parsed there: of a server and of a client, on a pipe and over
    HTTP, in a revision of either era."""
    program = callgrind.build(callgrind.HTTP, "--features", "client", profile="way")
    runs = {"server, pipe": pipe_server, "server, HTTP": http_server, "client, pipe": pipe_client, "client, HTTP": http_client}
    folders = tuple(f"{ROOT / crate / 'src'}/" for crate in crates)
    files, parsed = {}, {}
    for name, run in runs.items():
        for era, revision in ERAS.items():
            lines, functions = difference(program, run, era)
            # An instruction for each call at least.
            grown = {file for (file, _), count in lines.items() if count >= MORE and file.startswith(folders)}
            files[f"{name}, {revision}"] = sorted(str(Path(file).relative_to(ROOT)) for file in grown)
            texts = round(sum(count for function, count in functions.items() if PARSE.search(function)) / MORE)
            if not texts:
                raise SystemExit(f"no text is parsed for a call of {name}, {revision}: PARSE matches no function")
            parsed[f"{name}, {revision}"] = texts
    return files, parsed


def difference(program, run, era):
    """What the calls that are counted cost, by line, and which functions they call how often."""
    few, more = (run_once(program, run, era, calls) for calls in (FEW, FEW + MORE))
    return callgrind.by_line(program, more[0] - few[0]), more[1] - few[1]


def run_once(program, run, era, calls):
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        run(program, era, calls, output)
        return callgrind.by_address(program, output), callgrind.calls(output)


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
