"""Which files of a crate import what is defined in which others."""

import re
import sys
from collections import Counter, defaultdict

from .lines import is_test

USE = re.compile(r"(?ms)^[ \t]*(?:pub(?:\([^)]*\))? )?use ([^;]*);")
ITEM = re.compile(r"(?m)^(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe) )*(?:struct|enum|union|trait|fn|type|const|static|mod|macro_rules!) (\w+)")
TESTS = re.compile(r"(?m)^#\[cfg\((?:all\()?test\b.*\n(?:#.*\n)*(?:pub.* )?mod \w+ \{")


class Imports:
    """The imports of a crate, each from one file to another, by where the imported item is defined: re-exports are followed.

    A file and one that contains it need no import to know each other: a parent declares and exports. Rooms are what a folder
    contains: files, and folders with all that is in them.
    """

    def __init__(self, folder):
        """Reads the sources of a crate. A module is named by its path from the root of the crate."""
        self.folder = folder
        self.defined, self.exported, imported = {}, {}, {}
        texts = {module(file.relative_to(folder)): source(file) for file in sorted(folder.rglob("*.rs"))}
        for name, text in texts.items():
            leaves = [leaf.partition(" as ") for path in USE.findall(text) for leaf in flattened(path)]
            imported[name] = [absolute(path.split("::"), name, texts) for path, _, _ in leaves]
            self.defined[name] = set(ITEM.findall(text))
            self.exported[name] = [(alias or path.split("::")[-1], found) for (path, _, alias), found in zip(leaves, imported[name])]
        pairs = {(name, self.definition(path)) for name, paths in imported.items() for path in paths if path is not None}
        self.pairs = sorted((name, other) for name, other in pairs if other is not None and not contains(name, other) and not contains(other, name))

    def definition(self, path, seen=()):
        """The module where the item with this path is defined; `None` for items of other crates."""
        at = self.within(path)
        rest = path[len(at) :]
        if not rest or rest[0] in self.defined[at] or (at, rest[0]) in seen:
            return at
        seen = (*seen, (at, rest[0]))
        for name, found in self.exported[at]:
            if name == rest[0]:
                return None if found is None else self.definition(found + rest[1:], seen)
        for name, found in self.exported[at]:
            if name == "*" and found is not None and self.has(self.within(found), rest[0]):
                return self.definition(found[:-1] + rest, seen)
        return at

    def within(self, path):
        """The innermost module on a path."""
        while path not in self.defined:
            path = path[:-1]
        return path

    def has(self, at, name):
        return name in self.defined[at] or any(name == exported for exported, _ in self.exported[at])

    def circles(self, folder):
        """The imports below a folder from a file to one that, directly or through others, imports it."""
        return self.inside(folder, circular([(pair, pair) for pair in self.pairs]))

    def up(self, folder):
        """The imports below a folder from a room into a room that, directly or through others, imports from it."""
        return self.inside(folder, circular([(pair, rooms(*pair)) for pair in self.pairs]))

    def arrows(self):
        """From which room into which those imports lead that run up, and how many do, the fewest first."""
        counts = Counter(rooms(*pair) for pair in self.up(self.folder))
        return sorted(counts.items(), key=lambda arrow: (arrow[1], arrow[0]))

    def inside(self, folder, pairs):
        above = folder.relative_to(self.folder).parts
        return [pair for pair in pairs if all(contains(above, name) for name in pair)]


def source(file):
    """The text of a file without comments and without its module of tests, which is the last."""
    if is_test(file):
        return ""
    return TESTS.split(re.sub(r"(?m)//.*$", "", file.read_text()))[0]


def module(path):
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def contains(name, other):
    return other[: len(name)] == name


def rooms(name, other):
    """What holds either of two modules, in the innermost folder that has both."""
    depth = next(depth for depth, (left, right) in enumerate(zip(name, other)) if left != right)
    return name[: depth + 1], other[: depth + 1]


def flattened(path):
    """The single paths of an import with braces."""
    path = re.sub(r"\s*(::|[{},])\s*", r"\1", " ".join(path.split()))
    start = path.find("{")
    if start < 0:
        return [path.removesuffix("::self")]
    depth, parts, begin = 0, [], start + 1
    for at in range(start, len(path)):
        depth += (path[at] == "{") - (path[at] == "}")
        if (path[at] == "," and depth == 1) or depth == 0:
            parts.append(path[begin:at])
            begin = at + 1
        if depth == 0:
            break
    return [leaf for part in parts if part for leaf in flattened(path[:start] + part)]


def absolute(parts, name, modules):
    """The path of an import from the root of its crate; `None` for those of other crates."""
    first, *rest = parts
    if first == "crate":
        return tuple(rest)
    if first == "self":
        return (*name, *rest)
    if first != "super":
        return (*name, *parts) if (*name, first) in modules else None
    while first == "super":
        name = name[:-1]
        if not rest:
            return name
        first, *rest = rest
    return (*name, first, *rest)


def circular(arrows):
    """Of imports, each with the arrow that it stands for, those whose arrow is part of a circle of arrows."""
    needs = defaultdict(set)
    for _, (name, other) in arrows:
        needs[name].add(other)
        needs[other] |= set()
    circle = components(needs)
    return [pair for pair, (name, other) in arrows if circle[name] == circle[other]]


def components(needs):
    """For each module, a name of all that need each other with it (Tarjan)."""
    index, low, stack, room = {}, {}, [], {}

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in needs[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            while True:
                member = stack.pop()
                room[member] = name
                if member == name:
                    break

    sys.setrecursionlimit(10_000)
    for name in needs:
        if name not in index:
            visit(name)
    return room
