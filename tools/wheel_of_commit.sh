#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the path of the wheel in dist/ if it was built from the current commit, else nothing.
# --record: record that the wheel was just built from the current commit. Does nothing in a modified work tree.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=$(git rev-parse HEAD 2>/dev/null) && [ -z "$(git status --porcelain 2>/dev/null)" ] || exit 0
if [ "${1:-}" = --record ]; then
  echo "$commit" >dist/commit
elif [ "$commit" = "$(cat dist/commit 2>/dev/null)" ]; then
  echo dist/topoloom-*.whl
fi
