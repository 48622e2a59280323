#!/usr/bin/env bash
# The second step of the action: `mcprove ci` with the inputs, which are in variables. Counts become outputs; reports are in
# $RUNNER_TEMP/mcprove-reports.
set -euo pipefail

program=$RUNNER_TEMP/mcprove-bin/mcprove
reports=$RUNNER_TEMP/mcprove-reports
rm -rf "$reports"
# An input that cannot be used.
reject() {
    echo "::error title=mcprove::$1"
    echo "exit-code=2" >>"$GITHUB_OUTPUT"
    exit 2
}

status=0
if [[ -n $ARGS ]]; then
    # A command line, split by the shell.
    eval "\"\$program\" $ARGS" || status=$?
else
    mkdir -p "$reports"
    words=(ci)
    while read -r path; do
        if [[ -n $path ]]; then words+=("$path"); fi
    done <<<"$SUITE"
    if [[ -n $SERVER ]]; then words+=(--server "$SERVER"); fi
    if [[ -n $URL ]]; then words+=(--url "$URL"); fi
    if [[ -n $BASELINE ]]; then words+=(--baseline "$BASELINE"); fi
    case $FAIL_ON in
    failure | never) words+=(--threshold "$THRESHOLD") ;;
    regression)
        if [[ -z $BASELINE ]]; then
            reject "\`fail-on: regression\` needs a \`baseline\`"
        fi
        words+=(--threshold 0 --fail-on-regression)
        ;;
    *)
        reject "\`fail-on: $FAIL_ON\` is unknown; give \`failure\`, \`regression\` or \`never\`"
        ;;
    esac
    words+=(--jobs "$JOBS" --junit "$reports/mcprove-junit.xml" --html "$reports/mcprove.html" --report "$reports/mcprove.json"
        --sarif "$reports/mcprove.sarif" --markdown "$reports/mcprove.md")
    eval "\"\$program\" \"\${words[@]}\" $OPTIONS" || status=$?
fi

# A number of the report's summary.
count() {
    sed -n '/^  "summary": {/,/^  }/s/^ *"'"$1"'": \([0-9]*\).*/\1/p' "$reports/mcprove.json"
}

{
    echo "exit-code=$status"
    if [[ -s $reports/mcprove.json ]]; then
        passed=$(count passed) failed=$(count failed) skipped=$(count skipped) errors=$(count errors)
        judged=$((passed + failed + errors))
        echo "passed=$passed"
        echo "failed=$failed"
        echo "skipped=$skipped"
        echo "errors=$errors"
        if ((judged > 0)); then echo "score=$((100 * passed / judged))"; fi
        echo "reports=$reports"
    fi
} >>"$GITHUB_OUTPUT"
if [[ $FAIL_ON == never && $status == 1 ]]; then exit 0; fi
exit "$status"
