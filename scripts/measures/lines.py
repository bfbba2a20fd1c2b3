"""Lines of code, of documentation and of tests."""

import re
import subprocess
from collections import Counter
from pathlib import Path


def of_folder(folder):
    """The lines, files and conditions of compilation of a folder of sources."""
    return counted(folder, sorted(folder.rglob("*.rs")))


def of_tests(folder):
    counts = sum((classified(file.read_text()) for file in folder.rglob("*.rs")), Counter())
    return counts["code"] + counts["tests"]


def of_workspace(root):
    """All Rust sources of the project; those that are no tests are its files."""
    listed = subprocess.run(["git", "ls-files", "*.rs"], cwd=root, check=True, capture_output=True, text=True).stdout.split()
    return counted(root, [root / name for name in listed if (root / name).exists()])


def counted(folder, files):
    counts, sources, conditions = Counter(), 0, 0
    for file in files:
        text = file.read_text()
        lines = classified(text)
        conditions += len(re.findall(r"\bcfg(?:_attr)?!?\(", text))
        if {"tests", "benches", "fuzz"} & set(file.relative_to(folder).parts) or is_test(file):
            lines = Counter(tests=lines["code"] + lines["tests"], docs=lines["docs"])
        else:
            sources += 1
        counts += lines
    return {name: counts[name] for name in ("code", "docs", "tests")} | {"files": sources, "cfg": conditions}


def is_test(file):
    """Whether a file is the module of tests of another."""
    return file.stem.endswith("tests")


def classified(text):
    """How many lines are code, documentation or tests. A test module lasts until its brace is closed at the same depth."""
    counts, pending, margin = Counter(), False, None
    for line in text.splitlines():
        bare = line.strip()
        if not bare:
            continue
        if margin is not None:
            counts["tests"] += 1
            if line.rstrip() == margin + "}":
                margin = None
        elif bare.startswith(("///", "//!")):
            counts["docs"] += 1
        elif bare.startswith("//"):
            continue
        elif re.match(r"#\[cfg\((all\()?test\b", bare):
            pending = True
            counts["tests"] += 1
        elif pending and re.match(r"(pub(\(.*\))? )?mod \w+ \{", bare):
            pending, margin = False, line[: len(line) - len(line.lstrip())]
            counts["tests"] += 1
        else:
            pending = False
            counts["code"] += 1
    return counts
