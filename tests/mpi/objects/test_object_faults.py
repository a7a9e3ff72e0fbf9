# SPDX-License-Identifier: BSD-3-Clause
"""Some faults of objects are reported on all ranks; others leave no state behind."""

from __future__ import annotations

from mpis import MPICH, check_output, run_to_end
from object_programs import SOURCES, compile_with_objects

LINES = (
    "memory on rank 1: 2 threw memory_bytes is 10, but 2 ranks need 4096",
    "unequal: 2 threw message_bytes is not the same on all ranks",
    "home: 2 threw object (2) of ",
    "thrown: 2 threw object (0) of ",
    "to move: is on rank 1 of 8",
    "moved: yes",
    "left when over: yes",
    "measured: object (1) of ",
    "measured locked: 2 threw object (1) of ",
    "locked: object (1) of ",
    "taken: 8",
    "periods: 2 threw rebalance: periods is 0.000000, but must be positive",
    "policies: 2 threw rebalance: policy is not the same on all ranks",
    "callback: callback 0 threw 8",
    "mixed: ",
)
ENDS = (
    "threw a method calls measurements(), which only the main program may",
    "serialize threw it is locked",
    "serialize threw it is locked: it does not move",
    "contribute to one reduction with different operations or targets",
)


def test_faults_are_reported_on_all_ranks_and_leave_no_state_behind() -> None:
    program = compile_with_objects(MPICH, SOURCES / "faults.cpp")
    lines = check_output(run_to_end(MPICH.command(2, program))).splitlines()
    for wanted in LINES:
        assert any(line.startswith(wanted) for line in lines), wanted
    for wanted in ENDS:
        assert any(line.endswith(wanted) for line in lines), wanted
    assert lines.count("left when over: yes") == 2
    assert not [line for line in lines if line.startswith(("after both", "values"))]


def test_a_refused_rebalance_prints_one_line() -> None:
    program = compile_with_objects(MPICH, SOURCES / "mistakes.cpp")
    done = run_to_end(MPICH.command(4, program, "policy"))
    assert done.returncode != 0
    assert done.stderr.count("topoloom: topoloom_objects: ") == 1
