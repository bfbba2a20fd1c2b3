#!/usr/bin/env bash
# The tests so many times, while the fuzz targets keep all cores busy: load.sh [TIMES]
# Counts the rounds that fail; each must not. Each target runs for two minutes at a time, at least once.
set -uo pipefail
cd "$(dirname "$0")/.."
times=${1:-20}
cargo test --workspace --all-features --no-run --quiet && fuzz/run 1 || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The fuzz targets whose place in the list leaves this rest, until the rounds are over.
fuzz() {
  local first=yes target
  while [ $first = yes ] || [ ! -e "$work/over" ]; do
    for target in $(ls fuzz/fuzz_targets | sed 's/\.rs$//' | awk -v cores="$(nproc)" -v rest="$1" 'NR % cores == rest'); do
      [ $first = yes ] || [ ! -e "$work/over" ] || return 0
      fuzz/run 120 "$target" || touch "$work/found"
    done
    first=no
  done
}
for rest in $(seq 0 $(($(nproc) - 1))); do fuzz "$rest" & done

failures=0
for round in $(seq "$times"); do
  started=$SECONDS
  if cargo test --workspace --all-features --no-fail-fast --lib --bins --tests --examples >"$work/log" 2>&1; then
    echo "round $round: ok after $((SECONDS - started)) s"
  else
    failures=$((failures + 1))
    echo "round $round: FAILED after $((SECONDS - started)) s"
    grep -E -A3 '^test .*FAILED|^---- |panicked at|could not' "$work/log"
  fi
done
touch "$work/over"
wait
echo "$failures of $times rounds failed"
[ "$failures" = 0 ] && [ ! -e "$work/found" ]
