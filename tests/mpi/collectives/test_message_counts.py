# SPDX-License-Identifier: BSD-3-Clause
"""Collectives send exactly the messages of their schedules."""

from __future__ import annotations

import pytest
from built_libraries import compile_with_collectives
from built_programs import run
from mpis import MPIS, PROGRAMS, Mpi

from topoloom import _core

SCHEDULES = [str(schedule["name"]) for schedule in _core.schedules()]
RANKS = 5


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_messages_and_bytes_equal_those_of_the_schedule(mpi: Mpi) -> None:
    source = PROGRAMS / "collectives/counted_messages.c"
    program = compile_with_collectives(mpi, source)
    printed = run(mpi.command(RANKS, program, 1, 2, *SCHEDULES))
    lines = [line.split() for line in printed.splitlines()]
    assert len({schedule for _, schedule, *_ in lines}) > 10
    for operation, name, root, size, *counted in lines:
        schedule = _core.Schedule(name, operation, RANKS, int(size), int(root))
        sizes = schedule.all_messages()[3]
        # Sender and receiver both skip empty messages.
        expected = [int((sizes > 0).sum()), int(sizes.sum())]
        assert list(map(int, counted)) == expected, (operation, name, root, size)
