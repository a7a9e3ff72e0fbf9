#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the wheel in dist/ if it was made from the files of this commit, else nothing.
# With --keep: notes that the wheel was, unless files differ from the commit.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=$(git rev-parse HEAD 2>/dev/null) && [ -z "$(git status --porcelain 2>/dev/null)" ] || exit 0
if [ "${1:-}" = --keep ]; then
  echo "$commit" >dist/commit
elif [ "$commit" = "$(cat dist/commit 2>/dev/null)" ]; then
  echo dist/topoloom-*.whl
fi
