#!/usr/bin/env bash
# Packs the program that was built for a target into mcprove-TARGET.tar.gz with its checksum: pack.sh TARGET [FOLDER]. MCPROVE_PROGRAM
# names the program, if it is not where cargo puts it.
set -euo pipefail
into=$(cd "${2:-$(dirname "${BASH_SOURCE[0]}")/..}" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${1:?for which target}
name=mcprove-$target
program=${MCPROVE_PROGRAM:-}
if [[ -z $program ]]; then
    built=${CARGO_TARGET_DIR:-target}/$target/dist
    [[ -d $built ]] || built=${CARGO_TARGET_DIR:-target}/dist
    program=$built/mcprove
    [[ -e $program ]] || program=$built/mcprove.exe
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/completions"
file=mcprove
[[ $target != *windows* ]] || file=mcprove.exe
cp "$program" "$work/$name/$file"
cp README.md LICENSE-APACHE LICENSE-MIT CHANGELOG.md "$work/$name/"
"$program" man --dir "$work/$name/man"
for shell in bash elvish fish powershell zsh; do "$program" completions "$shell" >"$work/$name/completions/mcprove.$shell"; done
# The same program gives the same bytes, and root, who unpacks owners too, gets files of root. The tar of macOS cannot sort.
if tar --version | grep -q GNU; then
    normal=(--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner)
else
    normal=(--uid 0 --gid 0)
fi
tar -cf - "${normal[@]}" -C "$work" "$name" | gzip -9n >"$into/$name.tar.gz"
cd "$into"
if command -v sha256sum >/dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi >"$name.tar.gz.sha256"
cat "$name.tar.gz.sha256"
