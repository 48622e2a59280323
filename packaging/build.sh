#!/usr/bin/env bash
# Builds the program of a release, as small as it gets, and prints its path: build.sh [TARGET] [PACKAGE…]. Where the target is musl
# and its standard library is not installed, the program is linked with the static C library of this machine: good to try
# packages with, but it looks names up as this machine does, so releases are built where musl is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
shift || true
packages=("$@")
[[ $# != 0 ]] || packages=(mcprove)

flags=()
if [[ $target == *-linux-* ]]; then
    if [[ ! -d $(rustc --print target-libdir --target "$target") ]]; then
        echo "the target $target is not installed: linking the C library of this machine" >&2
        target=${target/%musl/gnu}
    fi
    flags+=(-C target-feature=+crt-static)
    # Equal functions are kept once, and relocations as a bitmap, which loads faster, too. Only LLVM's linker can do both; Rust brings it
    # along for one target.
    if [[ $target == x86_64-*-gnu ]]; then
        flags+=(-C link-arg=-Wl,--icf=all,-z,pack-relative-relocs)
    elif command -v ld.lld >/dev/null; then
        flags+=(-C link-arg=-fuse-ld=lld -C link-arg=-Wl,--icf=all,-z,pack-relative-relocs)
    fi
fi
export RUSTFLAGS="${flags[*]:-}${RUSTFLAGS:+ $RUSTFLAGS}"
"${CARGO:-cargo}" build --locked --profile dist --target "$target" "${packages[@]/#/--package=}" >&2
built=${CARGO_TARGET_DIR:-target}/$target/dist
# A panic ends the program, so nothing reads the tables for unwinding: a tenth of it.
if [[ $target == *-linux-* ]] && command -v objcopy >/dev/null; then
    for package in "${packages[@]}"; do objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr "$built/$package"; done
fi
echo "$built"
