# SPDX-License-Identifier: BSD-3-Clause
"""Our alltoall speeds up an unmodified program as documented."""

from __future__ import annotations

import re
from pathlib import Path

from built_libraries import compile_with_collectives
from built_programs import ROOT, run
from mpis import MPICH, SIMGRID, build_program
from simulated_hosts import hosts_options

from smpi import SETTINGS
from topoloom.figure.timeline import draw_timeline
from topoloom.schedules.call_trace import load_traces

SOURCE = ROOT / "apps/transpose/transpose.c"


def test_matrices_are_transposed() -> None:
    program = build_program(MPICH, SOURCE)
    assert "3 ranks, blocks of 200 bytes" in run(MPICH.command(3, program, 5, 4))
    assert "\nright: 0 wrong elements\n" in run(MPICH.command(3, program, 5, 3))


def test_a_simulated_transposition_is_faster_and_traced(tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.h"
    renamed.write_text("#define MPI_Alltoall topoloom_alltoall\n")
    headers = ["-include", "topoloom_collective.h", "-include", renamed]
    ours = compile_with_collectives(SIMGRID, SOURCE, *headers)
    options = hosts_options(tmp_path, 16, SETTINGS)

    def measure_microseconds(program: Path, **variables: str) -> float:
        output = run(SIMGRID.command(16, *options, program, 8, 10), **variables)
        assert "\nright: 0 wrong elements\n" in output
        found = re.search(r"\ntime: (\S+) s\n", output)
        assert found is not None
        return 1e6 * float(found[1])

    theirs = measure_microseconds(build_program(SIMGRID, SOURCE))
    setting = "schedule=bruck(radix=4)"
    assert measure_microseconds(ours, TOPOLOOM_COLLECTIVES=setting) < 0.6 * theirs
    trace = tmp_path / "calls.jsonl"
    measure_microseconds(ours, TOPOLOOM_COLLECTIVES=f"{setting},trace={trace}")
    calls = load_traces(trace)
    assert [call.schedule for call in calls] == ["bruck(radix=4)"] * 10
    draw_timeline(tmp_path / "calls.svg", calls[-1])
