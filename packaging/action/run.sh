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

# Appends the words of a command line to `words`. Quotes and backslashes are as in a shell; nothing is expanded or run, because an input
# may hold what someone else wrote, such as the title of a pull request.
append() {
    if [[ $1 != *[![:space:]]* ]]; then return; fi
    local split=$RUNNER_TEMP/mcprove-words word
    xargs printf '%s\0' <<<"$1" >"$split" 2>/dev/null || reject "\`$2\` cannot be split into words; is there a quote without its end?"
    while IFS= read -r -d '' word; do words+=("$word"); done <"$split"
}

# Reports of a second use in a job, and of other jobs of a matrix, must not replace these.
uses=$RUNNER_TEMP/mcprove-uses
echo use >>"$uses"
used=$(grep -c . "$uses")
id=$JOB_ID
if ((used > 1)); then id=$id-$used; fi
echo "id=$id" >>"$GITHUB_OUTPUT"

status=0
words=()
if [[ $ARGS == *[![:space:]]* ]]; then
    append "$ARGS" args
else
    mkdir -p "$reports"
    words=(ci)
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
    append "$OPTIONS" options
    while read -r path; do
        # It would be an option.
        if [[ $path == -* ]]; then path=./$path; fi
        if [[ -n $path ]]; then words+=("$path"); fi
    done <<<"$SUITE"
fi
"$program" "${words[@]}" || status=$?

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
