#!/usr/bin/env bash
# The programs that drivers of other implementations run, as the tests build them.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --workspace --all-features --bins
