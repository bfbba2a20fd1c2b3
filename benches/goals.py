"""The rows of docs/performance.md: a work, how it is measured, the goal, and what is known of those that miss it."""

from collections.abc import Callable
from dataclasses import dataclass

from counts import BROKEN, SIMD


@dataclass
class Figures:
    """What one run of `report` has measured."""

    # Bytes of an idle session, of one that has gone, and of a task that runs, by allocator.
    memory: dict[str, list[int]]
    instructions: dict
    cpu: dict
    servers: dict
    idle: dict
    crates: list[int]
    # Of the server on tokio, by table and row.
    allocations: dict[str, float]
    # See `builds`.
    builds: dict

    def count(self, table: str, row: str, peer: str) -> int:
        return self.instructions[table][row][peer]

    def ratio(self, table: str, row: str, peer: str, floor: str) -> float:
        return self.count(table, row, peer) / self.count(table, row, floor)

    def time(self, table: str, row: str, peer: str, other: str) -> float:
        """The CPU time of one contestant, of that of another."""
        return self.cpu[table][row][peer] / self.cpu[table][row][other]

    def server(self, kind: str, revision: str, server: str) -> float:
        """The CPU time of a server, of that of its floor: the median of rounds in turns."""
        return self.servers[kind][revision][server]


@dataclass
class Goal:
    """`measure` returns as many numbers as there are goals; each is to be at most its goal."""

    work: str
    measure: Callable[[Figures], list[float]]
    goals: list[float]
    # For the rows that miss: the function that takes the most, and what was tried.
    known: str = ""

    def is_met(self, measured: list[float]) -> bool:
        return all(value <= goal for value, goal in zip(measured, self.goals, strict=True))


SMALL = ["ping", "tools/call", "initialize"]
SCRIPTS = ["escaped text", "latin text", "emoji text", "cyrillic text", "chinese text"]
LEGACY, MODERN = "2025-11-25", "2026-07-28"
WALK = "`json::scan::container::pass_noting` takes 1,280 of it, `Message::parse` 480."
TYPED_CALL = (
    "Reading the message takes 1,140 (`json::scan::container::pass_noting` 530), finding the tool and its arguments 900 (`json::walk`; a server has their places from "
    "reading, and takes 550), decoding the arguments 1,000. serde_json, which knows the type of the whole message beforehand, takes 3,900."
)
PIPE = (
    "The machine parses (1,300 instructions, with the places of members), checks and stores the request (1,800), and writes (700). A typed call decodes (1,100) and "
    "boxes its job (700). Its path does not fit into a 32 kB instruction cache (540 misses a call, of the core alone 80), and has 16 locked instructions. "
    "Contexts and events are passed by reference: 950 bytes of a call move, where it were 4,700. What still moves often waits: a value that was stored in parts and is "
    "loaded as a whole is not forwarded (`perf annotate` of `insert`, `dispatch`, `poll_respond`, `Jobs::start`); a word for the form of a text and results that stay in place won a tenth. "
    "On smol, async-io makes six system calls for each wait. Tried: the jobs of up to 16 requests begun together have half the misses, and took as much CPU."
)
HTTP = (
    "An exchange has a machine of its own (1,400 to make it, 4,000 with its end: `ServedConversation`), 19 allocations (2,700), and values that move "
    "(2,300; the future of a request has 0.9 kB). hyper and the `http` crate take 23,000 of it. A request takes three system calls, as with hyper alone. Tried: "
    "the state of an exchange kept for the next one would win 1,000, and a caller's handle must not reach it."
)
SUBSCRIBERS = (
    "The sockets and the sessions of 1,000 clients are not in the cache of the processor when their turn comes: the kernel's part alone takes 1.4. Clients are "
    "notified in portions of 32, so that what a session uses is still there when its connection writes; all at once it was 1.8."
)
TASK = (
    "Of 8 kB of heap: the state of its exchange (`Shared`, 1.7 kB), the fields of its request (1.1 kB), the future of `Engine::run` (0.8 kB), its host "
    "(0.4 kB), two copies of its record and the watch of the store (1.3 kB), the job of the handler. A task held the buffer of its connection before, 14.4 kB in all."
)
SIZE = (
    "Of 454 kB of the core alone the reader of backtraces in the standard library takes 172 and the rest of that library 56, tables for unwinding 46; "
    "110 are this library with the loop of the program (`handle` and the parser inlined in it 36, `link::step::flush` 6, `Server::respond` 4). Those of rmcp are larger: see below."
)
BUILDS = (
    "Of 57 seconds of CPU `mcp-async` takes 17 (6 of them LLVM), `mcp-proto` 9, `rustix` with `linux-raw-sys` 4.6, `tokio` 2.6, `syn` 2.6. Maps (`BTreeMap`) are an eighth of what "
    "both crates generate. Without its feature `net`, which a socket on standard input requires, `rustix` takes 2.5."
)
# Two of the allocators.
SYSTEM, RETURNING = "glibc", "jemalloc, `dirty_decay_ms:0`"

GOALS = [
    Goal("mixed small messages, CPU of simd-json's tape", lambda it: [sum(it.time("parse", row, "mcp-proto", "simd-json") for row in SMALL) / 3], [0.45]),
    Goal("`tools/call` of 200 B: parse, instructions", lambda it: [it.count("parse", "tools/call", "mcp-proto")], [1_800], WALK),
    Goal("call of 120 B, its arguments as a type: instructions", lambda it: [it.count("call", "typed call", "mcp-proto")], [2_000], TYPED_CALL),
    Goal(
        "1 MB of text with escapes · Latin · emoji · Cyrillic · Chinese, CPU of sonic-rs: without a feature",
        lambda it: [it.time("parse", row, "mcp-proto", "sonic-rs") for row in SCRIPTS],
        [1.9] * 5,
    ),
    Goal(
        "the same with the feature `simd`",
        lambda it: [it.time("parse", row, SIMD, "sonic-rs") for row in SCRIPTS],
        [1.4, *[1.1] * 4],
    ),
    Goal(
        "arguments of a parsed call into a type, of serde_json: CPU · instructions",
        lambda it: [it.time("decode", "small arguments", "mcp-proto", "serde_json"), it.ratio("decode", "small arguments", "mcp-proto", "serde_json")],
        [0.95, 1.18],
        "`core::str::from_utf8` for each key and text (a third), because a text that was validated cannot become a `&str` without `unsafe`.",
    ),
    Goal(
        "echo through the machine, instructions of parsing it: 1 · 64 kB · 1 MB",
        lambda it: [it.count("pipe", row, "core") / it.count("parse", row, "mcp-proto") for row in ("1 kB", "64 kB", "1 MB")],
        [8, 5, 5],
        "Two copies, a search for the newline and one for the closing quote are left; 1 kB is bound by the parts of the machine.",
    ),
    Goal(
        "event stream, small events, instructions of sse-stream",
        lambda it: [it.ratio("events", "small events", "mcp-proto", "sse-stream")],
        [0.35],
    ),
    Goal(
        "event stream in chunks of one byte, instructions of the best other",
        lambda it: [max(it.ratio("events", "small events by byte", "mcp-proto", peer) for peer in ("sse-stream", "eventsource-stream"))],
        [0.9],
    ),
    Goal(
        "newline stream in chunks of 64 kB, nanoseconds of CPU for a message",
        lambda it: [it.cpu["lines"]["lines in 64 kB"]["mcp-proto"]],
        [85],
        "Of 1,780 instructions 1,500 validate the message (`json::scan::container` 330, `json::scan` 220, strings by word 170) and 160 copy it; "
        "finding its line takes 130.",
    ),
    Goal(
        "newline stream in chunks of one byte, CPU of a splitter",
        lambda it: [it.time("lines", "lines by byte", "mcp-proto", "splitter")],
        [1.2],
        "`Inbox::next_message` and `Inbox::spare_mut`, which look at the state of the inbox for each byte: 130 instructions, of a splitter 98.",
    ),
    Goal(
        "broken input of a fuzz corpus that costs most for its length, of such a valid one: values · messages · lines · event streams, instructions",
        lambda it: [it.ratio("bad input", corpus, "broken", "valid") for corpus in BROKEN],
        [1, 1, 1, 1],
        "Of lines: `[]` and `[1,` take 206 and 258 more than an empty line, and the element `7` of an array 352 (`Inbox::next_message`, `open_array`, "
        "`Message::element`), which is much for nine bytes with their line feeds; a line with a `ping` takes 723. Tried: an array that is read out of line and keeps its place in the storage brings 1.07, and "
        "takes 4 for each byte that comes alone.",
    ),
    Goal(
        "10,000 · 100,000 requests in flight, answered in any order, CPU of a step, of that with one",
        lambda it: [it.cpu["in flight"][f"{count} in flight"]["mcp-proto"] / it.cpu["in flight"]["1 in flight"]["mcp-proto"] for count in ("10,000", "100,000")],
        [1.5, 2],
        "The instructions are those of one request (3,700); the rest are misses, six lines of the cache in a step (`valgrind --cache-sim`): the slot has two, a "
        "search in the index one, a removal from it one and often the next, and the token of the program one.",
    ),
    Goal(
        "echo on a pipe, 64 at once, CPU of a loop over serde_json: core · typed on tokio · on smol",
        lambda it: [it.server("pipe", LEGACY, server) for server in ("core", "mcp-tokio", "mcp-smol")],
        [1.2, 1.6, 1.65],
        PIPE,
    ),
    Goal("the same, instructions: core · typed", lambda it: [it.count("pipe", "legacy", server) for server in ("core", "mcp-tokio")], [6_900, 8_600], PIPE),
    Goal(
        "the same, allocations: typed",
        lambda it: [it.allocations["pipe, legacy"]],
        [1],
        "The text of the argument, which is the handler's, and the job of the call with the future of its handler.",
    ),
    Goal(
        "echo of 1 MB · 8 MB on a pipe, typed on tokio, CPU of a loop over serde_json",
        lambda it: [it.server("pipe", size, "mcp-tokio") for size in ("1 MB", "8 MB")],
        [0.85, 0.9],
        "The text is decoded into a `String`, checked and written: `core::str::from_utf8` and `Writer::escaped`. Buffers are kept between large messages, so that no page faults are left.",
    ),
    Goal(
        "call of 2026-07-28 of one of 2025-11-25, core, instructions",
        lambda it: [it.count("pipe", "modern", "core") / it.count("pipe", "legacy", "core")],
        [1.7],
    ),
    Goal(
        "echo over HTTP, CPU of hyper: 2026-07-28 · 2025-11-25 · 2026-07-28 on smol",
        lambda it: [it.server("HTTP", MODERN, "mcp-tokio"), it.server("HTTP", LEGACY, "mcp-tokio"), it.server("HTTP", MODERN, "mcp-smol")],
        [1.4, 1.4, 1.5],
        HTTP,
    ),
    Goal("the same, instructions: 2026-07-28 · 2025-11-25", lambda it: [it.count("HTTP", row, "mcp-tokio") for row in ("modern", "legacy")], [42_000, 38_000], HTTP),
    Goal(
        "the same, allocations: 2026-07-28 · 2025-11-25",
        lambda it: [it.allocations[f"HTTP, {row}"] for row in ("modern", "legacy")],
        [20, 16],
        "hyper and the `http` crate make 9 of them.",
    ),
    Goal(
        "call with a token that was sent before, more instructions than without: RS256 · EdDSA",
        lambda it: [it.count("protected and tasks", row, "mcp-tokio") - it.count("HTTP", "modern", "mcp-tokio") for row in ("rs256", "eddsa")],
        [12_000, 12_000],
        "The fingerprint of the signature (`FingerprintKey::fingerprint`: 1,500 for RS256), some fifteen allocations of the admission and the principal (3,000), the "
        "field `Authorization` in hyper and httparse (2,000), and a check of host and path before the token is (`is_admitted`, 1,500). SHA-256 took 13,000 and 4,600.",
    ),
    Goal(
        "call of a client on a pipe, 64 at once: 2025-11-25 · 2026-07-28, instructions",
        lambda it: [it.count("client", f"pipe, {row}", "mcp-tokio") for row in ("legacy", "modern")],
        [10_500, 13_500],
        "The result is decoded (`decode::whole`), its block of content into an owned text; the scan takes 1,900, tokio's task 900.",
    ),
    Goal(
        "call of a client over HTTP: 2025-11-25 · 2026-07-28, instructions",
        lambda it: [it.count("client", f"HTTP, {row}", "mcp-tokio") for row in ("legacy", "modern")],
        [64_000, 74_000],
        "The head is cloned for redirects and its fields are inserted one by one (4,000), the session is polled in rounds (5,000), and 45 allocations (11,000).",
    ),
    Goal(
        "life of a task over HTTP, one poll with the result, instructions",
        lambda it: [it.count("protected and tasks", "task", "mcp-tokio")],
        [130_000],
        "Two calls are 88,000 of it. The task that runs the handler takes 11,800, and the copy of the head that the handler may read "
        "(`CallContext::detach_to`) 4,000.",
    ),
    Goal("the same, allocations", lambda it: [it.allocations["protected and tasks, task"]], [80], "Two calls are 56 of them, and the copy of the head is 11."),
    Goal(
        "one call at a time, CPU on smol of that on tokio: client on a pipe · client over HTTP · server over HTTP",
        lambda it: [it.servers["alone"][work][f"{role} on smol"] for work, role in (("pipe", "client"), ("HTTP", "client"), ("HTTP", "server"))],
        [1.3, 1.3, 1.3],
        "Of smol three threads take part in a call, that of the caller, that of the executor and that of the reactor, which wake each other: 6 `futex` calls "
        "and 20 other system calls for a call on a pipe; of tokio one thread, and 3 system calls.",
    ),
    Goal(
        "idle session over HTTP with its stream, resident kB: tokio · smol",
        lambda it: [it.idle["mcp-tokio"] / 1000, it.idle["mcp-smol"] / 1000],
        [18, 20],
        "hyper alone takes 16.8 kB: 8 kB that `Conn::force_io_read` reserves to notice the end of the client, 8 kB for heads, and 1.6 kB for the queue of what is written; it has no smaller ones. "
        "Of this library are `Shared` (1.7 kB), the task of the connection (1.6 kB), and that of the session.",
    ),
    Goal(
        "sessions that came and went, five rounds of 1,000, resident kB for each of 1,000: with jemalloc that returns memory at once",
        lambda it: [it.memory[RETURNING][1] / 1000],
        [8],
        "",
    ),
    Goal(
        "task that runs over HTTP, resident kB",
        lambda it: [it.memory[SYSTEM][2] / 1000],
        [8],
        TASK,
    ),
    Goal(
        "update of a resource told to 1,000 subscribers, for each, of one told to 100: instructions",
        lambda it: [it.count("large servers", "1000 subscribers", "mcp-tokio") / it.count("large servers", "100 subscribers", "mcp-tokio")],
        [1.3],
    ),
    Goal("the same, CPU", lambda it: [it.server("large", "update", "1000 subscribers")], [1.3], SUBSCRIBERS),
    Goal(
        "call to one of 10,000 tools, of one to the only tool: instructions · CPU; with 5,000 idle sessions, CPU",
        lambda it: [
            it.count("large servers", "tools", "mcp-tokio") / it.count("HTTP", "modern", "mcp-tokio"),
            it.server("large", "beside", "10000 tools"),
            it.server("large", "beside", "5000 sessions"),
        ],
        [1.03, 1.3, 1.1],
    ),
    Goal(
        "crates of a typed server on tokio: on a pipe · over HTTP",
        lambda it: it.crates,
        [33, 48],
        "",
    ),
    Goal(
        "program optimized for size, kB: core alone · typed on a pipe · over HTTP",
        lambda it: [it.builds["sizes"][name] / 1000 for name in ("core", "stdio", "http")],
        [450, 950, 1_450],
        SIZE,
    ),
    Goal(
        "build of a typed server on a pipe, CPU of one of rmcp: with nothing built · after an edit, with the run",
        lambda it: [it.builds["times"]["stdio"][kind] / it.builds["times"]["rmcp-stdio"][kind] for kind in ("cold", "edit")],
        [0.7, 0.5],
        BUILDS,
    ),
]
