# Sourced by embedded.sh and portability.sh: a Rust compiler with libraries for other targets, made of
# Debian's packages alone. Debian ships compiler, cargo and library source of one release, so every library
# is compiled here, by the compiler that will link it, and put where that compiler looks for it.
#
# Needs root on Debian 12. Everything is idempotent: what is there already costs a second.

CROSS_RUSTC=/usr/bin/rustc
CROSS_CARGO=/usr/bin/cargo
# Compiled artefacts of this compiler stay apart from those of the toolchain that builds the project.
CROSS_TARGET_DIR=${CROSS_TARGET_DIR:-$PWD/target/cross}

note() { printf '   [%4ds] %s\n' "$SECONDS" "$*"; }

# install_packages [--backports] PACKAGE...: installs what is missing, waiting for another installation to end.
install_packages() {
  local release=() wanted=() package suite
  if [ "$1" = --backports ]; then
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME-backports")
    release=(--target-release "$suite")
    shift
  fi
  for package in "$@"; do
    dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || wanted+=("$package")
  done
  [ ${#wanted[@]} -gt 0 ] || return 0
  [ ${#release[@]} = 0 ] || enable_suite "$suite"
  refresh_package_lists
  note "installing ${wanted[*]}"
  DEBIAN_FRONTEND=noninteractive apt-get install -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -qq -y --no-install-recommends "${release[@]}" "${wanted[@]}" </dev/null >/dev/null
}

# The lists are fetched once per script run.
refresh_package_lists() {
  [ -z "${package_lists_fresh:-}" ] || return 0
  apt-get update -o DPkg::Lock::Timeout=300 -qq </dev/null
  package_lists_fresh=1
}

# enable_suite SUITE: adds a suite from the mirror that serves this machine's own one.
enable_suite() {
  local suite=$1 own origin
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  refresh_package_lists
  if apt-get indextargets --format '$(CODENAME)' | grep -qx "$suite"; then return 0; fi
  origin=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Identifier: Packages' | sed -n "s/^$own //p" | head -n 1)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $origin $suite main" > "/etc/apt/sources.list.d/$suite.list"
  package_lists_fresh=
  refresh_package_lists
}

install_compiler() {
  install_packages rustc-web cargo-web rust-web-src rust-web-llvm lld-22 gcc libc6-dev
  cross_version=$("$CROSS_RUSTC" -vV)
  cross_library=/usr/src/rustc-$(sed -n 's/^release: //p' <<<"$cross_version")/library
  if ! [ -d "$cross_library/core" ]; then
    echo "the library source in /usr/src is not of the release of $CROSS_RUSTC" >&2
    return 1
  fi
}

# build_library CRATES TARGET...: compiles the named crates of the standard library for each target that lacks them.
build_library() {
  local crates=$1 target missing=() stamp scratch
  shift
  stamp="$crates for $(sha256sum <<<"$cross_version")"
  for target in "$@"; do
    [ "$(cat "$(library_of "$target")/built-for" 2>/dev/null)" = "$stamp" ] || missing+=("$target")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  scratch=$(mktemp -d)
  mkdir "$scratch/src"
  printf '[package]\nname = "carrier"\nversion = "0.0.0"\nedition = "2024"\n' > "$scratch/Cargo.toml"
  echo '#![no_std]' > "$scratch/src/lib.rs"
  for target in "${missing[@]}"; do
    # Building the library itself needs unstable flags, nothing afterwards does. The bitcode is for link-time optimisation.
    (cd "$scratch" && env -u RUSTUP_TOOLCHAIN -u RUSTC_WRAPPER RUSTC="$CROSS_RUSTC" RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes \
      CARGO_TARGET_DIR="$scratch/out" "$CROSS_CARGO" build --quiet --release --target "$target" -Z "build-std=$crates" </dev/null)
    rm -rf "$(library_of "$target")"
    mkdir -p "$(library_of "$target")"
    find "$scratch/out/$target/release/deps" -name '*.rlib' ! -name 'libcarrier-*' -exec mv -t "$(library_of "$target")" {} +
    case $target in *-windows-gnu) build_start_objects "$target" ;; esac
    echo "$stamp" > "$(library_of "$target")/built-for"
    note "$target: ${crates//,/, } built"
  done
  rm -rf "$scratch"
}

library_of() { echo "/usr/lib/rustlib/$1/lib"; }

# The compiler links two small objects into every program of this target; the library build does not make them.
build_start_objects() {
  local name
  for name in rsbegin rsend; do
    RUSTC_BOOTSTRAP=1 "$CROSS_RUSTC" --target "$1" -O --crate-type lib --emit obj "$cross_library/rtstartup/$name.rs" -o "$(library_of "$1")/$name.o"
  done
}

# cross_cargo ARGUMENT...: cargo with this compiler.
cross_cargo() {
  env -u RUSTUP_TOOLCHAIN -u RUSTC_WRAPPER RUSTC="$CROSS_RUSTC" RUSTDOC=/usr/bin/rustdoc CARGO_TARGET_DIR="$CROSS_TARGET_DIR" "$CROSS_CARGO" "$@" </dev/null
}
