#!/usr/bin/env bash
# The programs that drivers of other implementations run. With the features and the profile of the tests: nothing is left
# to build after these.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --workspace --all-features --all-targets
