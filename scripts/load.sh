#!/usr/bin/env bash
# The tests so many times, while the fuzz targets keep all cores busy: load.sh [TIMES]
# Counts the rounds that fail; each must not. Each target runs for two minutes at a time, at least once.
set -uo pipefail
cd "$(dirname "$0")/.."
times=${1:-20}
targets=$(ls fuzz/fuzz_targets | sed 's/\.rs$//')
cargo test --workspace --all-features --no-run --quiet && fuzz/run 1 || exit
work=$(mktemp -d)
loops=()
# A process group for each loop, so that the target of a loop ends with it.
set -m
trap 'for loop in "${loops[@]}"; do kill -- "-$loop" 2>/dev/null; done; rm -rf "$work"' EXIT

is_over() { [ ! -d "$work" ] || [ -e "$work/over" ]; }

# The fuzz targets whose place in the list leaves this rest, until the rounds are over; one that has found something is left out.
fuzz() {
  local first=yes ran target mine
  mine=$(awk -v cores="$(nproc)" -v rest="$1" 'NR % cores == rest' <<<"$targets")
  while [ $first = yes ] || ! is_over; do
    ran=no
    for target in $mine; do
      [ $first = yes ] || ! is_over || return 0
      [ ! -e "$work/found.$target" ] || continue
      ran=yes
      # The targets wait for the tests: a time limit of theirs is no finding.
      FUZZ_TIMEOUT=60 fuzz/run 120 "$target" || touch "$work/found.$target"
    done
    [ $ran = yes ] || return 0
    first=no
  done
}
for rest in $(seq 0 $(($(nproc) - 1))); do
  fuzz "$rest" &
  loops+=($!)
done

failures=0
for round in $(seq "$times"); do
  started=$SECONDS
  if cargo test --workspace --all-features --no-fail-fast --lib --bins --tests --examples >"$work/log" 2>&1; then
    echo "round $round: ok after $((SECONDS - started)) s"
  else
    failures=$((failures + 1))
    mkdir -p target/load && cp "$work/log" "target/load/round-$round.log"
    echo "round $round: FAILED after $((SECONDS - started)) s: see target/load/round-$round.log"
    grep -E -A3 '^test .*FAILED|^---- |panicked at' "$work/log"
  fi
done
touch "$work/over"
wait
echo "$failures of $times rounds failed"
[ "$failures" = 0 ] && ! compgen -G "$work/found.*" >/dev/null
