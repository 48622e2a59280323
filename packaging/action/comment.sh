#!/usr/bin/env bash
# The third step of the action: one comment on the pull request for each use of the action, written once and then updated.
set -euo pipefail

report=$RUNNER_TEMP/mcprove-reports/mcprove.md
if [[ ! -s $report ]]; then
    echo "there are no results to comment on"
    exit 0
fi
marker="<!-- mcprove:$COMMENT_ID -->"
body=$RUNNER_TEMP/mcprove-comment.md
# GitHub refuses comments of more than 65536 characters.
{
    echo "$marker"
    head -c 60000 "$report"
    if (($(wc -c <"$report") > 60000)); then printf '\n\n… the rest is in the job summary\n'; fi
} >"$body"
comments=repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments
# A comment that cannot be written changes no verdict. The token of a pull request from a fork may only read.
give_up() {
    echo "::warning title=mcprove::the comment could not be written: $1; the results are in the job summary"
    exit 0
}
if ! command -v gh >/dev/null; then give_up "there is no \`gh\` on this runner"; fi
reason=" (the job needs \`pull-requests: write\`, which pull requests from forks do not get)"
known=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id") || give_up "GitHub refused to list comments$reason"
known=${known%%$'\n'*}
if [[ -n $known ]]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field body=@"$body" --silent || give_up "GitHub refused to update it$reason"
else
    gh api --method POST "$comments" --field body=@"$body" --silent || give_up "GitHub refused it$reason"
fi
