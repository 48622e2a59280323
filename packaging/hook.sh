#!/usr/bin/env bash
# What the pre-commit hooks run: the `mcprove` of the PATH, or else one built once from this checkout with cargo.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(command -v mcprove || true)
if [[ -z $program ]]; then
    program=$root/.hook/mcprove
    if [[ ! -x $program ]]; then
        if ! command -v cargo >/dev/null; then
            echo "mcprove is not on the PATH, and neither is cargo to build it with; install one of them" >&2
            exit 2
        fi
        echo "building mcprove once; this takes some minutes" >&2
        "$root/packaging/install.sh" source "$root/.hook" >&2
    fi
fi
exec "$program" "$@"
