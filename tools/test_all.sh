#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every part of `make test-all`, also after one fails; prints their times, and exits with 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.."

# Part, what it adds to `make test`, and the arguments of make.
parts='
asan|core tests under AddressSanitizer and UBSan|asan
tsan|parallel core tests under ThreadSanitizer|tsan
core|nothing; the tests of the core|core-test
package|tests marked full, more examples|package-test FULL=--full
mpi|tests marked full, every test on every MPI|mpi-test FULL=--full
fuzz|5 minutes of odd files for every reader|fuzz ARGS=--seconds=300
mutants|sample machine files, each part damaged|fuzz-mutants
calls|10^5 wrong calls under AddressSanitizer|fuzz-calls
collectives|2,000 drawn collectives on each MPI|fuzz-collectives ARGS=--cases=2000
network|switches in 10^5 drawn configurations|fuzz-network ARGS=100000
signals|100 random signals to jobs of each MPI|fuzz-signals
runs|30 killed jobs that share a run store|fuzz-runs ARGS=--count=30
lowest|package tests with the lowest versions|test-lowest
probe|4 simulated machines, measured by the probe|bench-probe ARGS="--only machines --machines 4"
docs|the site, without warnings|docs
blocks|commands in README and docs|docs-blocks
'

failed=0
table=
while IFS='|' read -r part adds arguments; do
    [ -n "$part" ] || continue
    printf '\n== %s: %s\n' "$part" "$adds"
    started=$SECONDS
    result=passed
    eval "make $arguments" </dev/null || { result=FAILED; failed=1; }
    table+=$(printf '%-12s %4d s  %-6s  %s' "$part" $((SECONDS - started)) $result "$adds")$'\n'
done <<<"$parts"
printf '\n%s' "$table"
printf '%-12s %4d s\n' total $SECONDS
exit $failed
