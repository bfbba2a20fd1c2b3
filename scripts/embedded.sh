#!/usr/bin/env bash
# A check of mcp-proto where there is no operating system: without features, with each that does not need std, and with
# all of these, and mcp-auth, for a core that has no atomic compare-and-swap (thumbv6m) and for one with a
# floating-point unit (thumbv7em). `boards` installs what the other boards of the firmware need beyond `setup`.
# Needs root on Debian 12. Usage: embedded.sh [setup | boards | check]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/cross-toolchain.sh

setup() {
  install_packages binutils-arm-none-eabi
  install_packages --backports qemu-system-arm
  install_compiler
  build_library core,alloc thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf
}

boards() {
  install_packages --backports qemu-system-riscv
  build_library core,alloc riscv32imac-unknown-none-elf
}

check() {
  local target features
  for target in thumbv6m-none-eabi thumbv7em-none-eabihf; do
    for features in '' diagnostics alloc heapless serde-json serde-json-core alloc,heapless,serde-json,serde-json-core; do
      note "mcp-proto for $target, features '$features'"
      cross_cargo check --package mcp-proto --lib --no-default-features --features "$features" --target "$target"
    done
    note "mcp-auth for $target"
    cross_cargo check --package mcp-auth --lib --target "$target"
  done
}

[ $# -gt 0 ] || set -- check
setup
case $* in
  setup) ;;
  boards) boards ;;
  *) check ;;
esac
