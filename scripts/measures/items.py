"""Public items of the libraries, from rustdoc's JSON."""

import json
import os
import subprocess
from pathlib import Path

from . import api

TYPES = ("struct", "enum", "union", "trait", "type_alias")
# Those that belong to an item, and names that it has elsewhere.
PARTS = ("struct_field", "variant", "use", "impl")


def of_crates(root, crates):
    """For each library, its public types, and its public items: types, functions, methods, constants, modules and macros;
    and their names as users write them."""
    libraries = [crate for crate in crates if (root / crate / "src/lib.rs").exists()]
    packages = [argument for crate in libraries for argument in ("--package", crate)]
    environment = os.environ | {"RUSTDOC": str(root / "scripts/rustdoc-docsrs"), "RUSTDOCFLAGS": "-Z unstable-options --output-format json"}
    subprocess.run(["cargo", "doc", "--quiet", "--no-deps", "--all-features", *packages], cwd=root, check=True, env=environment, stdin=subprocess.DEVNULL)
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    target = json.loads(subprocess.run(metadata, cwd=root, check=True, capture_output=True, text=True).stdout)["target_directory"]
    figures = {}
    for crate in libraries:
        document = json.loads((Path(target) / "doc" / f"{crate.replace('-', '_')}.json").read_text())
        kinds = [next(iter(item["inner"])) for item in document["index"].values() if item["visibility"] == "public"]
        figures[crate] = {
            "types": sum(kind in TYPES for kind in kinds),
            "items": sum(kind not in PARTS for kind in kinds),
            "names": api.names(document),
        }
    return figures
