"""What is counted by `instructions` and shown by `report`: tables of works, contestants and inputs.

A row is counted twice, with few repetitions and with more; the difference is what the added ones cost, without start-up.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from callgrind import CALLS, COUNT, COUNT_CORPUS, COUNT_PEERS, COUNT_SIMD, COUNT_STREAMS, HTTP, allocations, build, call, on_a_pipe, read, serve


@dataclass
class Row:
    """An input: how often it is worked on, how much more often, and in how many parts a count is divided."""

    name: str
    few: int
    more: int
    parts: int = 1


@dataclass
class Table:
    """A work, and who does it: `count` returns the instructions of a program that does it so often."""

    name: str
    unit: str
    rows: list[Row]
    # Those of this library, which are bounded, and the others.
    ours: list[str]
    others: list[str]
    count: Callable[[Path, str, str, int], int] = read
    binary: list[str] = field(default_factory=lambda: COUNT)
    # The program of the others, if it is another one: what is counted of this library is compiled without them.
    binary_of_others: list[str] | None = None

    def program(self, peer: str) -> Path:
        if peer == SIMD:
            return build(COUNT_SIMD)
        return build(self.binary_of_others if self.binary_of_others and peer in self.others else self.binary)

    def measure(self, row: Row, peer: str) -> int:
        """The instructions of one work."""
        program = self.program(peer)
        few, more = (self.count(program, peer, row.name, times) for times in (row.few, row.few + row.more))
        return (more - few) // row.more // row.parts

    def allocations(self, name: str, peer: str) -> float:
        """The allocations of one work of a server."""
        row = next(row for row in self.rows if row.name == name)
        found = []
        for times in (row.few, row.few + row.more):
            with tempfile.NamedTemporaryFile() as output:
                self.count(self.program(peer), peer, name, times, Path(output.name))
                found.append(allocations(Path(output.name)))
        return round((found[1] - found[0]) / row.more, 1)


CORPORA = Path(__file__).resolve().parent.parent / "fuzz" / "corpus"


# The inputs of the corpora with something that is refused; all others are valid.
BROKEN = {
    "json_scan": ["broken", "too_deep"],
    "rpc_message": ["both", "broken_text", "doubled", "late_id"],
    "line_framing": ["batch", "mark", "too_long"],
    "event_stream": ["too_long"],
}


@dataclass
class WorstInputs(Table):
    """Each row is a fuzz corpus, and its contestants are the kinds of inputs. The figure is that of the input that costs most for its length, for 100 bytes of it."""

    def measure(self, row: Row, kind: str) -> int:
        costs = []
        for path in sorted((CORPORA / row.name).iterdir()):
            if (path.name in BROKEN[row.name]) == (kind == "broken"):
                one = Row(f"{row.name}/{path.name}", row.few, row.more)
                costs.append(super().measure(one, "mcp-proto") * 100 // path.stat().st_size)
        return max(costs)


# This library with its feature `simd`.
SIMD = "mcp-proto simd"


def small(*names: str) -> list[Row]:
    return [Row(name, 100, 1000) for name in names]


TABLES = [
    Table(
        "parse",
        "a message, read and validated",
        [*small("ping", "tools/call", "initialize"), Row("tools/list", 5, 20), *(Row(f"{kind} text", 2, 4) for kind in ("escaped", "emoji", "chinese"))],
        ["mcp-proto", SIMD],
        ["serde_json", "simd-json", "sonic-rs", "rmcp"],
        binary_of_others=COUNT_PEERS,
    ),
    Table(
        "decode",
        "the arguments of a tool, into a type",
        [*small("small arguments"), Row("large arguments", 5, 20), Row("escaped arguments", 5, 20)],
        ["mcp-proto"],
        ["serde_json", "simd-json", "serde-json-core"],
        binary_of_others=COUNT_PEERS,
    ),
    Table(
        "call",
        "a call of 120 bytes, read and validated, with its arguments as a type",
        small("typed call"),
        ["mcp-proto"],
        ["serde_json"],
        binary_of_others=COUNT_PEERS,
    ),
    Table(
        "encode",
        "a value, as JSON",
        [*small("small value"), Row("large value", 5, 20), Row("escaped value", 5, 20)],
        ["mcp-proto"],
        ["serde_json"],
        binary_of_others=COUNT_PEERS,
    ),
    Table(
        "events",
        "an event of a stream",
        [Row("small events", 2, 10, 600), Row("small events by byte", 1, 2, 600), Row("large events", 2, 10, 10)],
        ["mcp-proto"],
        ["sse-stream", "eventsource-stream"],
        binary_of_others=COUNT_PEERS,
    ),
    Table(
        "lines",
        "a message of a newline stream in chunks; the splitter only looks for newlines",
        [Row("lines in 64 kB", 2, 10, 600), Row("lines by byte", 1, 2, 600)],
        ["mcp-proto"],
        ["splitter"],
        binary=COUNT_STREAMS,
    ),
    Table(
        "in flight",
        "a request, answered in any order, and another in its place",
        [Row(f"{count} in flight", 1, 1, 20_000) for count in ("1", "10,000", "100,000")],
        ["mcp-proto"],
        [],
        binary=COUNT_STREAMS,
    ),
    WorstInputs(
        "bad input",
        "100 bytes of the input of a fuzz corpus that costs most for its length, of the broken ones and of the valid ones",
        small(*BROKEN),
        ["broken", "valid"],
        [],
        binary=COUNT_CORPUS,
    ),
    # Short texts as many at once as a busy client sends; large ones one by one.
    Table(
        "pipe",
        "an echo on a pipe, 64 at once",
        [Row("legacy", 64, 640), Row("modern", 64, 640), Row("1 kB", 16, 160), Row("64 kB", 2, 8), Row("1 MB", 2, 4)],
        ["core", "mcp-tokio", "mcp-smol"],
        ["serde"],
        on_a_pipe,
        HTTP,
    ),
    Table(
        "HTTP",
        "an echo over HTTP, on 16 connections",
        [Row("modern", 160, 800), Row("legacy", 160, 800)],
        ["mcp-tokio", "mcp-smol"],
        ["hyper-tokio", "hyper-smol"],
        serve,
        HTTP,
    ),
    Table(
        "protected and tasks",
        "an echo with a token that was sent before; a task, created and polled",
        [Row("rs256", 160, 800), Row("eddsa", 160, 800), Row("task", 160, 800)],
        ["mcp-tokio"],
        [],
        serve,
        HTTP,
    ),
    Table(
        "large servers",
        "an echo of 2026-07-28 at a server of 10,000 tools; an update, for each of its subscribers",
        [Row("tools", 160, 800), Row("100 subscribers", 5, 20, 100), Row("1000 subscribers", 1, 4, 1000)],
        ["mcp-tokio"],
        [],
        serve,
        HTTP,
    ),
    Table(
        "client",
        "a call of a client: 64 at once on a pipe, one by one over HTTP",
        [Row("pipe, legacy", 128, 640), Row("pipe, modern", 128, 640), Row("HTTP, legacy", 16, 160), Row("HTTP, modern", 16, 160)],
        ["mcp-tokio"],
        [],
        call,
        HTTP,
    ),
    Table(
        "proxy",
        "a call in memory, client and servers together",
        [Row("modern", 50, 500), Row("legacy", 50, 500)],
        ["direct", "proxied"],
        [],
        binary=CALLS,
    ),
]


def measure(table: Table, peers: list[str]) -> dict[str, dict[str, int]]:
    """The counts of a table, by input and contestant, which are printed as they come."""
    print(f"\n{table.name}: instructions of {table.unit}\n" + " " * 20 + "".join(f"{peer:>20}" for peer in peers))
    found = {}
    for row in table.rows:
        found[row.name] = {peer: table.measure(row, peer) for peer in peers}
        print(f"{row.name:<20}" + "".join(f"{found[row.name][peer]:>20,}" for peer in peers), flush=True)
    return found
