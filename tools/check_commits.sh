#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks the last 20 commit messages: the subject is `area: do this` in at most 60 characters, and there is a body.
# Usage: tools/check_commits.sh [REVISION OR RANGE]
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
for commit in $(git rev-list --no-merges --max-count=20 "${1:-HEAD}"); do
  subject=$(git log -1 --format=%s "$commit")
  reject() { echo "commit ${commit:0:8} '$subject': $1" >&2; failed=1; }
  [[ $subject =~ ^[a-z][a-z0-9_/,\ -]*:\ [^A-Z\ ].*[^.]$ ]] || reject "the subject is not 'area: do this'"
  [ ${#subject} -le 60 ] || reject "the subject has ${#subject} characters; at most 60 are allowed"
  [ -n "$(git log -1 --format=%b "$commit")" ] || reject "the body is empty; give the reason and the measured effect"
done
exit $failed
