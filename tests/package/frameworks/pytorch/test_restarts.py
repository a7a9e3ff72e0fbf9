# SPDX-License-Identifier: BSD-3-Clause
"""Only the last start counts if torchrun restarts the ranks of a job."""

from __future__ import annotations

import pytest

from topoloom import Error
from topoloom.frameworks.pytorch.process_notes import (
    LastStarts,
    ProcessNotes,
    ProcessStart,
    select_last_starts,
)


def make_notes(
    rank: int, process: str, agent: str, attempt: int | None
) -> ProcessNotes:
    """Create notes of a process; the number in `process` is its start time."""
    start = ProcessStart(process, agent, attempt, float(process.split()[1]))
    return ProcessNotes(rank, 2, [], [], {}, "", start)


def test_a_host_restarts_its_ranks_after_another_host_failed() -> None:
    """Only the failed host increases its attempt number."""
    earlier = [make_notes(0, "a 2", "a 1", 0), make_notes(1, "b 2", "b 1", 0)]
    later = [make_notes(0, "a 3", "a 1", 1), make_notes(1, "b 3", "b 1", 0)]
    assert select_last_starts([*earlier, *later]) == LastStarts(later, 2)


def test_ranks_that_the_last_start_lacks_are_dropped() -> None:
    earlier = [make_notes(rank, f"a {rank + 2}", "a 1", 0) for rank in range(4)]
    later = [make_notes(rank, f"a {rank + 6}", "a 1", 1) for rank in range(2)]
    assert select_last_starts([*earlier, *later]) == LastStarts(later, 4)


def test_all_worlds_of_one_process_count() -> None:
    worlds = [make_notes(0, "a 2", "a 1", None), make_notes(1, "a 2", "a 1", None)]
    assert select_last_starts(worlds) == LastStarts(worlds, 0)


@pytest.mark.parametrize(
    ("agent", "attempts"),
    [("a 5", (0, 0)), ("a 5", (1, 0)), ("a 1", (None, None)), ("a 1", (0, None))],
)
def test_a_rank_of_two_jobs_is_refused(
    agent: str, attempts: tuple[int | None, int | None]
) -> None:
    first, second = attempts
    jobs = [make_notes(0, "a 2", "a 1", first), make_notes(0, "a 6", agent, second)]
    with pytest.raises(Error, match="rank 0 twice, as two jobs would"):
        select_last_starts(jobs)
