#!/usr/bin/env bash
# The pre-commit hooks: hook.sh COMMAND [PATH...]. Without paths, all suites that git knows in this repository, wherever they
# are. The program is the `mcprove` of the PATH, or one that is built once from this checkout with cargo.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
command=${1:?which command}
shift

# A file is a suite if it has the block of an assertion, or servers and a list of tests. Others are fixtures, imported parts, or
# somebody else's.
is_suite() {
    grep -qE '^(assert(_[a-z]+)?|trajectory):' "$1" && return 0
    grep -qE '^servers?:' "$1" && grep -qE '^(tools|resources|prompts|agents|assert_[a-z]+|tool_quality):' "$1"
}

suites=("$@")
if ((${#suites[@]} == 0)); then
    while IFS= read -r -d '' file; do
        if [[ -f $file ]] && is_suite "$file"; then suites+=("$file"); fi
    done < <(git ls-files -z -- '*.yaml' '*.yml')
fi
if ((${#suites[@]} == 0)); then
    echo "no suite was found" >&2
    exit 0
fi

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
exec "$program" "$command" "${suites[@]}"
