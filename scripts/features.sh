#!/usr/bin/env bash
# mcp-proto, mcp-async and the adapters without features, with each feature alone, and with all of them.
set -euo pipefail
cd "$(dirname "$0")/.."

features_of() {
  cargo metadata --format-version 1 --no-deps |
    python3 -c 'import json, sys; [print(f) for p in json.load(sys.stdin)["packages"] if p["name"] == sys.argv[1] for f in p["features"] if f != "default"]' "$1"
}

check() { cargo clippy --quiet --lib --no-default-features "$@" -- -D warnings; }

for package in mcp-proto mcp-async mcp-tokio mcp-smol; do
  echo "   $package"
  check --package "$package"
  for feature in $(features_of "$package"); do
    echo "   $package, $feature"
    check --package "$package" --features "$feature"
  done
  check --package "$package" --all-features
done
