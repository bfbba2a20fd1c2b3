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
PARSE = re.compile(r"::(Message|OwnedMessages(<.*>)?)>?::parse(_with_known_meta)?$")


def ways(crates):
    """The files of these crates on each way, and the texts that are parsed there: of a server and of a client, on a pipe and over
    HTTP, in a revision of either era."""
    program = callgrind.build(callgrind.HTTP, "--no-default-features", "--features", "client", profile="way")
    folders = tuple(f"{ROOT / crate / 'src'}/" for crate in crates)
    files, parsed = {}, {}
    for name, run in RUNS.items():
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


# Each with one call at a time.
RUNS = {
    "server, pipe": lambda program, era, calls, output: callgrind.on_a_pipe(program, SERVER, era, calls, output, depth=1),
    "server, HTTP": lambda program, era, calls, output: callgrind.serve(program, SERVER, era, calls, output),
    "client, pipe": lambda program, era, calls, output: callgrind.call(program, SERVER, f"pipe, {era}", calls, output, depth=1),
    "client, HTTP": lambda program, era, calls, output: callgrind.call(program, SERVER, f"HTTP, {era}", calls, output),
}
