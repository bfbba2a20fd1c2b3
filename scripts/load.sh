#!/usr/bin/env bash
# The tests so many times, while as many other processes as there are cores keep them busy: load.sh [TIMES]
# Counts the rounds that fail; each must not.
set -uo pipefail
cd "$(dirname "$0")/.."
times=${1:-20}
cargo test --workspace --all-features --no-run --quiet || exit
busy=()
trap 'kill "${busy[@]}" 2>/dev/null' EXIT
for _ in $(seq "$(nproc)"); do
  while :; do :; done &
  busy+=($!)
done
log=$(mktemp)
failures=0
for round in $(seq "$times"); do
  if cargo test --workspace --all-features --no-fail-fast --lib --bins --tests --examples >"$log" 2>&1; then
    echo "round $round: ok"
  else
    failures=$((failures + 1))
    echo "round $round: FAILED"
    grep -E -A3 '^test .*FAILED|^---- |panicked at|could not' "$log"
  fi
done
rm -f "$log"
echo "$failures of $times rounds failed"
[ "$failures" = 0 ]
