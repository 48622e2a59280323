#!/usr/bin/env bash
# Puts the program into a folder: install.sh VERSION FOLDER. VERSION is a release (`v0.1.0`), `latest`, or `source`, which
# builds with cargo. MCPROVE_RELEASES is where releases are, if not at GitHub: a mirror, or a folder as file:///….
# Exits with 3 if there is no such release, and with 2 if it cannot be installed.
set -euo pipefail

if [[ $# != 2 || $1 == -* ]]; then
    echo "usage: install.sh VERSION FOLDER, where VERSION is a release such as v0.1.0, latest, or source, which builds with cargo" >&2
    exit 2
fi
version=$1
folder=$2
if [[ $version == [0-9]* ]]; then version=v$version; fi
releases=${MCPROVE_RELEASES:-https://github.com/mcprove/mcprove/releases}
mkdir -p "$folder"

need() {
    if ! command -v "$1" >/dev/null; then
        echo "\`$1\` was not found; $2" >&2
        exit 2
    fi
}

if [[ $version == source ]]; then
    need cargo "https://rustup.rs installs it"
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    # The script may have been fetched alone.
    if [[ -e $root/crates/cli/Cargo.toml ]]; then from=(--path "$root/crates/cli"); else from=(--git https://github.com/mcprove/mcprove mcprove); fi
    cargo install --locked --quiet --no-track --force "${from[@]}" --root "$folder/.root"
    mv "$folder/.root/bin/"mcprove* "$folder/"
    rm -rf "$folder/.root"
    "$folder/mcprove" --version
    exit 0
fi

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) target=x86_64-unknown-linux-musl ;;
Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
Darwin-x86_64) target=x86_64-apple-darwin ;;
Darwin-arm64) target=aarch64-apple-darwin ;;
MINGW*-x86_64 | MSYS*-x86_64) target=x86_64-pc-windows-msvc ;;
*)
    echo "there is no release for $(uname -s) $(uname -m); use 'source' to build it with cargo" >&2
    exit 2
    ;;
esac

need curl "install it, or fetch the archive of a release by hand: $releases"
if [[ $version == latest ]]; then from=$releases/latest/download; else from=$releases/download/$version; fi
archive=mcprove-$target.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# 22 is an HTTP status of 400 or more, 37 a file that cannot be read.
fetch() {
    local status=0
    curl --fail --silent --show-error --location --retry 3 --output "$work/$1" "$from/$1" || status=$?
    case $status in
    0) ;;
    22 | 37)
        echo "there is no release at $from/$1; use 'source' to build it with cargo" >&2
        exit 3
        ;;
    *)
        echo "$from/$1 could not be fetched (curl exit code $status)" >&2
        exit 2
        ;;
    esac
}

fetch "$archive"
fetch "$archive.sha256"
# Compared here, because a file of checksums can name other files.
read -r expected _ <"$work/$archive.sha256" || true
actual=$(if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi <"$work/$archive")
if [[ -z $expected || ${actual%% *} != "$expected" ]]; then
    echo "the checksum of $from/$archive is ${actual%% *}, and its .sha256 says \`$expected\`; nothing was installed" >&2
    exit 2
fi
tar -xzf "$work/$archive" -C "$folder" --strip-components=1
"$folder/mcprove" --version
