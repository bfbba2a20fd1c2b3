#!/usr/bin/env bash
# The programs that outside drivers run: examples of both adapters with all features, and the client of the
# conformance suite. One command for all, so that what they share is compiled once.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --package mcp-tokio --package mcp-smol --package mcp-conformance --all-features \
  --example everything --example drive --example smol_everything --example smol_drive --bin conformance-client
