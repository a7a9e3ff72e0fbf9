# SPDX-License-Identifier: BSD-3-Clause
"""What `topoloom record` reports about a recorded program."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from topoloom.graphs.profile import Profile
from topoloom.tasks.record import RecordedProgram


def test_messages_of_a_rank_to_itself_are_counted_apart() -> None:
    profile = Profile(
        rank_count=3,
        traffic=np.array(
            [[0, 0, 0, 0, 900, 9, -1], [0, 0, 0, 1, 60, 2, -1], [0, 0, 2, 2, 5, 1, -1]]
        ),
        records=np.empty((0, 6), dtype=np.int64),
        communicators=[],
    )
    facts = RecordedProgram(profile, Path("p.npz"), "expand").facts()
    assert (facts["bytes"], facts["messages"], facts["pairs"]) == (60, 2, 1)
    assert (facts["own_bytes"], facts["own_messages"]) == (905, 10)
    # As in the graph, which has no such messages.
    assert facts["graph_bytes"] == profile.graph().total_bytes == 60
    busiest = facts["busiest_pair"]
    assert busiest is not None
    assert (busiest["source"], busiest["target"]) == (0, 1)
