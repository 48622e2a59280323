#!/usr/bin/env bash
# The key of the cached program: what it would be built from. `hashFiles` sees only files of the workspace, and the action is not there.
set -euo pipefail

cd "$ACTION"
sums=$(find Cargo.lock Cargo.toml crates packaging schema -type f -exec cksum {} + | LC_ALL=C sort)
key=$(cksum <<<"$sums")
echo "key=${key// /-}" >>"$GITHUB_OUTPUT"
