#!/usr/bin/env bash
# The first step of the action: puts the program into $RUNNER_TEMP/mcprove-bin, unless the cache, or an earlier step, did. `latest`
# without a release is built from the checked-out action.
set -euo pipefail

folder=$RUNNER_TEMP/mcprove-bin
installed=$(cat "$folder/.version" 2>/dev/null || true)
# `latest` changes; what was built or what has a version does not.
if [[ $installed == "$VERSION" && $VERSION != latest ]]; then
    "$folder/mcprove" --version
    exit 0
fi
status=0
"$ACTION/packaging/install.sh" "$VERSION" "$folder" || status=$?
# 3 is "there is no such release", and nothing else.
if [[ $status == 3 && $VERSION == latest ]]; then
    if [[ $installed == latest ]]; then
        "$folder/mcprove" --version
        exit 0
    fi
    echo "::notice title=mcprove::there is no release yet; building mcprove from source, which takes some minutes the first time"
    status=0
    "$ACTION/packaging/install.sh" source "$folder" || status=$?
fi
if [[ $status == 0 ]]; then echo "$VERSION" >"$folder/.version"; fi
exit "$status"
