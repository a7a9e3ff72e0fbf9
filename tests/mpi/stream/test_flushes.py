# SPDX-License-Identifier: BSD-3-Clause
"""Buckets are flushed before they are full; errors name unresponsive ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import MPICH, SIMGRID, check_output, run_to_end
from simulated_hosts import hosts_options
from streams import POLLS, SOURCES, compile_with_streams


def test_items_are_flushed_on_time(tmp_path: Path) -> None:
    program = compile_with_streams(SIMGRID, SOURCES / "stream_flushes.c")
    steady = POLLS | {"smpi/grow-injected-times": "no"}
    options = hosts_options(tmp_path, 9, steady)
    done = run_to_end(SIMGRID.command(9, *options, program))
    cases = ["urgent", "idle", "flush", "done"]
    assert check_output(done) == "".join(f"{case}: right\n" for case in cases)


@pytest.mark.parametrize(
    ("words", "call", "why"),
    [
        ([0], "progress", "messages are not received by rank 2"),
        ([-1], "progress", "the end of the phase is not confirmed by rank 2"),
        ([0, "full"], "push", "messages are not received by rank 2"),
    ],
)
def test_a_rank_that_stops_responding_is_named(
    words: list[object], call: str, why: str
) -> None:
    program = compile_with_streams(MPICH, SOURCES / "stopped_rank.c")
    done = run_to_end(MPICH.command(3, program, *words))
    assert done.returncode != 0
    line = f"topoloom_stream_{call}: rank 0 has waited for 0.5 s: {why}"
    assert f"topoloom: {line}" in done.stderr
