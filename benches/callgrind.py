"""Programs of the benches under callgrind."""

import re
import subprocess
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Each alone: what other packages want of a dependency would change its counts.
COUNT = ["--package", "mcp-benches", "--bin", "count"]
COUNT_PEERS = ["--package", "mcp-benches-peers", "--bin", "count-peers"]
HTTP = ["--package", "mcp-benches-http", "--bin", "http"]


def build(binary: list[str], *options: str, profile: str = "release") -> Path:
    """The path of a program, after it was built."""
    subprocess.run(["cargo", "build", "--quiet", "--profile", profile, *binary, *options], cwd=HERE, check=True, stdin=subprocess.DEVNULL)
    built = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=HERE, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return Path(re.search(r'"target_directory":"([^"]*)"', built.stdout)[1]) / profile / binary[-1]


def under(output: Path | str = "/dev/null") -> list[str]:
    """The beginning of a command that runs under callgrind, which writes there what each line costs."""
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}"]


def serve(program: Path, peer: str, era: str, times: int, output: Path | str = "/dev/null") -> int:
    """The instructions of a server over HTTP that gets so many calls, one after the other, and ends before its connections do."""
    pipes = {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*under(output), program, "serve", peer], **pipes, stderr=subprocess.PIPE) as server:
        with subprocess.Popen([program, "drive", server.stdout.readline().strip(), era, str(times)], **pipes) as driver:
            is_answered = driver.stdout.readline()
            server.stdin.close()
            told = server.stderr.read()
            driver.stdin.close()
    if not is_answered:
        raise SystemExit(f"{peer} did not answer {times} calls")
    return collected(told)


def collected(told: str) -> int:
    """The instructions of a program, from what callgrind prints at its end."""
    return int(re.search(r"Collected : (\d+)", told)[1])


def by_line(output: Path) -> Counter:
    """How many instructions each line of a source file has run, wherever it is inlined. What the compiler adds has no line."""
    costs, files, file, line, is_call = Counter(), {}, "", 0, False
    for text in output.read_text().splitlines():
        # `fl=(12) path` begins a function, `fi` and `fe` change the file within it, `cfi` is the file of a callee.
        named = re.fullmatch(r"(c?f[lie])=\((\d+)\)(?: (.*))?", text)
        if named:
            kind, number, path = named.groups()
            if path:
                files[number] = path
            if not kind.startswith("c"):
                file = files[number]
        elif text.startswith("calls="):
            is_call = True
        elif re.match(r"[\d+*-]", text):
            at, cost = text.split()[:2]
            if at != "*":
                line = int(at) + (line if at[0] in "+-" else 0)
            # The line after `calls=` has what the callee costs.
            if line and not is_call:
                costs[file, line] += int(cost)
            is_call = False
    return costs


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
