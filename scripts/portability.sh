#!/usr/bin/env bash
# The other platforms: the tests of all crates on Windows (under Wine), those of mcp-proto and mcp-auth on 32-bit and on
# big-endian Linux (the latter under QEMU), and a check of everything for macOS, where nothing is run.
# Needs root on Debian 12. Usage: portability.sh [setup | env | windows | small | big-endian | macos]...
#   setup   only installs      env   prints the variables with which /usr/bin/cargo builds for these targets
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/cross-toolchain.sh

windows=x86_64-pc-windows-gnu
small=i686-unknown-linux-gnu
big_endian=s390x-unknown-linux-gnu
macos=aarch64-apple-darwin
wine_prefix=${WINEPREFIX:-/var/cache/mcp-wine}

variables() {
  cat <<END
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc-posix
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$PWD/scripts/wine
export CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc-posix
export WINEPREFIX=$wine_prefix WINEDEBUG=-all
export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER='qemu-s390x -L /usr/s390x-linux-gnu'
export CC_aarch64_apple_darwin=$PWD/scripts/no-code AR_aarch64_apple_darwin=$PWD/scripts/no-code
END
}

setup() {
  install_packages gcc-mingw-w64-x86-64-posix wine wine64 \
    gcc-i686-linux-gnu libc6-dev-i386-cross libc6-i386 lib32gcc-s1 \
    gcc-s390x-linux-gnu libc6-dev-s390x-cross
  install_packages --backports qemu-user
  install_compiler
  build_library std,panic_unwind,proc_macro,test "$windows" "$small" "$big_endian" "$macos"
  prepare_wine
}

prepare_wine() {
  local library=$wine_prefix/drive_c/windows/system32/bcryptprimitives.dll
  [ ! -f "$library" ] || return 0
  WINEPREFIX=$wine_prefix WINEDEBUG=-all wineboot --init </dev/null >/dev/null 2>&1 || true
  x86_64-w64-mingw32-gcc-posix -O2 -s -shared -static-libgcc scripts/bcryptprimitives.c -o "$library" -ladvapi32
  note "wine: $(/usr/lib/wine/wine64 --version)"
}

run() {
  note "$1"
  case $1 in
    windows) cross_cargo test --workspace --target "$windows" ;;
    small) cross_cargo test --package mcp-proto --package mcp-auth --all-features --target "$small" ;;
    big-endian) cross_cargo test --package mcp-proto --package mcp-auth --all-features --target "$big_endian" ;;
    # The tests of mcp-proto and mcp-auth know of no platform.
    macos) cross_cargo check --workspace --exclude mcp-proto --exclude mcp-auth --exclude mcp-fuzz-targets --all-targets --target "$macos" ;;
    *) echo "unknown platform: $1" >&2; exit 2 ;;
  esac
}

[ $# -gt 0 ] || set -- windows small big-endian macos
if [ "$*" = env ]; then variables; exit; fi
setup
if [ "$*" = setup ]; then exit; fi
eval "$(variables)"
for platform in "$@"; do run "$platform"; done
