"""Programs of the benches under callgrind."""

import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Each alone: what other packages want of a dependency would change its counts.
COUNT = ["--package", "mcp-benches", "--bin", "count"]
COUNT_SIMD = ["--package", "mcp-benches", "--features", "simd", "--bin", "count-simd"]
COUNT_STREAMS = ["--package", "mcp-benches", "--bin", "count-streams"]
COUNT_CORPUS = ["--package", "mcp-benches", "--bin", "count-corpus"]
COUNT_PEERS = ["--package", "mcp-benches-peers", "--bin", "count-peers"]
CALLS = ["--package", "mcp-benches-calls", "--bin", "calls"]
HTTP = ["--package", "mcp-benches-http", "--bin", "http"]


def build(binary: list[str], *options: str, profile: str = "release") -> Path:
    """The path of a program, after it was built."""
    return built(tuple(binary), options, profile)


@cache
def built(binary: tuple[str, ...], options: tuple[str, ...], profile: str) -> Path:
    subprocess.run(["cargo", "build", "--quiet", "--profile", profile, *binary, *options], cwd=HERE, check=True, stdin=subprocess.DEVNULL)
    told = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=HERE, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return Path(re.search(r'"target_directory":"([^"]*)"', told.stdout)[1]) / profile / binary[-1]


def under(output: Path | str = "/dev/null") -> list[str]:
    """The beginning of a command that runs under callgrind, which writes there what each instruction costs."""
    return ["valgrind", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={output}"]


def read(program: Path, peer: str, name: str, times: int) -> int:
    """The instructions of a program that does everything by itself."""
    ended = subprocess.run([*under(), program, peer, name, str(times)], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return collected(ended.stderr)


# The server of a work that needs one of its own.
SERVERS = {"rs256": "rs256", "eddsa": "eddsa", "task": "tasks", "tools": "tools", "100 subscribers": "updates", "1000 subscribers": "updates"}


def serve(program: Path, peer: str, work: str, times: int, output: Path | str = "/dev/null") -> int:
    """The instructions of a server over HTTP that gets so many calls, one after the other, and ends before its connections do."""
    pipes = {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*under(output), program, "serve", SERVERS.get(work, peer)], **pipes, stderr=subprocess.PIPE) as server:
        with subprocess.Popen([program, "drive", server.stdout.readline().strip(), work, str(times)], **pipes) as driver:
            is_answered = driver.stdout.readline()
            server.stdin.close()
            told = server.stderr.read()
            driver.stdin.close()
    if not is_answered:
        raise SystemExit(f"{peer} did not answer {times} calls")
    return collected(told)


# Bytes of a text, how many calls are written at once.
TEXTS = {"1 kB": (1_000, 16), "64 kB": (64_000, 1), "1 MB": (1_000_000, 1)}


def on_a_pipe(program: Path, peer: str, kind: str, times: int, output: Path | str = "/dev/null", depth: int = 64) -> int:
    """The instructions of a server on a pipe that gets so many calls: of an era, 64 at once, or of 2025-11-25 with a long text."""
    size, depth = TEXTS.get(kind, (None, depth))
    era = kind if size is None else "legacy"
    sizes = [] if size is None else [str(size)]
    lines = subprocess.run([program, "lines", era, str(times), *sizes], check=True, capture_output=True).stdout.splitlines(keepends=True)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*under(output), program, "pipe", peer], **pipes) as server:
        opening = len(lines) - times
        for batch in [lines[:opening], *(lines[at : at + depth] for at in range(opening, len(lines), depth))]:
            server.stdin.write(b"".join(batch))
            server.stdin.flush()
            for line in batch:
                if b'"id"' in line and b'"result"' not in server.stdout.readline():
                    raise SystemExit(f"{peer} did not answer a call on a pipe")
        server.stdin.close()
        told = server.stderr.read().decode()
    return collected(told)


def call(program: Path, peer: str, way: str, times: int, output: Path | str = "/dev/null", depth: int = 64) -> int:
    """The instructions of a client that makes so many calls: on a pipe, so many at once, or over HTTP, one by one."""
    on, era = way.split(", ")
    if on == "pipe":
        return called(program, output, era, str(times), str(depth))
    with subprocess.Popen([program, "serve", peer], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        try:
            return called(program, output, era, str(times), "1", server.stdout.readline().strip())
        finally:
            server.stdin.close()


def called(program: Path, output: Path | str, *arguments: str) -> int:
    ended = subprocess.run(
        [*under(output), program, "call", *arguments], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return collected(ended.stderr)


def collected(told: str) -> int:
    """The instructions of a program, from what callgrind prints at its end."""
    return int(re.search(r"Collected : (\d+)", told)[1])


def by_address(program: Path, output: Path) -> Counter:
    """How often each instruction of this program has run, by its address there."""
    counts, objects, current, address, is_call = Counter(), {}, "", 0, False
    for text in output.read_text().splitlines():
        # `ob=(12) path` begins what belongs to a program or a library.
        named = re.fullmatch(r"ob=\((\d+)\)(?: (.*))?", text)
        if named:
            number, path = named.groups()
            if path:
                objects[number] = path
            current = objects[number]
        elif named := re.fullmatch(r"cob=\((\d+)\) (.*)", text):
            objects[named[1]] = named[2]
        elif text.startswith("calls="):
            is_call = True
        elif re.match(r"0x|[\d+*-]", text):
            at, _, count = text.split()[:3]
            if at != "*":
                address = (address if at[0] in "+-" else 0) + int(at, 0)
            # The line after `calls=` has what the callee costs.
            if current == str(program) and not is_call:
                counts[address] += int(count)
            is_call = False
    return counts


def by_line(program: Path, addresses: Counter) -> Counter:
    """How often the instructions of each line of a source file have run, wherever it is inlined. What the compiler adds has no line.

    The lines are those of `addr2line`: callgrind names the file of the function before one that begins at a line of the same number.
    """
    told = subprocess.run(
        ["addr2line", "--exe", program], check=True, capture_output=True, text=True, input="".join(f"{address:#x}\n" for address in addresses)
    )
    counts = Counter()
    for count, line in zip(addresses.values(), told.stdout.splitlines(), strict=True):
        file, number = re.fullmatch(r"(.*):(\d+|\?)(?: \(discriminator \d+\))?", line).groups()
        if number not in ("0", "?"):
            counts[file, int(number)] += count
    return counts


def allocations(output: Path) -> int:
    """How often memory was allocated."""
    counts = calls(output)
    return sum(counts[name] for name in ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"))


def calls(output: Path) -> Counter:
    """How often each function was called that is not inlined everywhere."""
    counts, names, callee = Counter(), {}, ""
    for text in output.read_text().splitlines():
        # `fn=(12) name` begins a function, `cfn` names a callee, whose calls the next line counts.
        named = re.fullmatch(r"c?fn=\((\d+)\)(?: (.*))?", text)
        if named:
            number, name = named.groups()
            if name:
                names[number] = name
            callee = names[number]
        elif text.startswith("calls="):
            counts[callee] += int(text.removeprefix("calls=").split()[0])
    return counts
