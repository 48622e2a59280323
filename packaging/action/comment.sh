#!/usr/bin/env bash
# The third step of the action: one comment on the pull request for each job, written once and then updated.
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
} >"$body"
comments=repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments
known=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | head -n 1)
if [[ -n $known ]]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field body=@"$body" --silent
else
    gh api --method POST "$comments" --field body=@"$body" --silent
fi
