#!/usr/bin/env bash
# Packs what was built for a target into mcprove-TARGET.tar.gz with its checksum: pack.sh TARGET.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${1:?for which target}
built=${CARGO_TARGET_DIR:-target}/$target/release
[[ -d $built ]] || built=${CARGO_TARGET_DIR:-target}/release
name=mcprove-$target
program=$built/mcprove
[[ -e $program ]] || program=$built/mcprove.exe

rm -rf "$name"
mkdir -p "$name/completions"
cp "$program" README.md LICENSE-APACHE LICENSE-MIT CHANGELOG.md "$name/"
"$program" man --dir "$name/man"
for shell in bash elvish fish powershell zsh; do "$program" completions "$shell" >"$name/completions/mcprove.$shell"; done
tar -czf "$name.tar.gz" "$name"
rm -rf "$name"
if command -v sha256sum >/dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi >"$name.tar.gz.sha256"
cat "$name.tar.gz.sha256"
