# SPDX-License-Identifier: BSD-3-Clause
"""Schedules exported as GOAL are read back and terminate."""

from __future__ import annotations

from collections import Counter

import pytest
from goal_text import read_operations, run_operations
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.model import MessageCosts, NetworkModel, load_model
from topoloom.schedules.choose import Call, list_schedule_names, operations
from topoloom.schedules.exports import goal
from topoloom.schedules.exports.request import ExportRequest

MODEL = load_model("hdr").model


def write_goal(call: Call, name: str) -> str:
    return goal.write(ExportRequest(call, name, MODEL))


@given(
    operation=st.sampled_from(operations()),
    ranks=st.integers(1, 13),
    size=st.integers(1, 5000),
    draw=st.data(),
)
def test_goal_messages_equal_the_messages_of_the_schedule(
    operation: str, ranks: int, size: int, draw: st.DataObject
) -> None:
    many = operation.startswith("many")
    degree = draw.draw(st.integers(0, ranks - 1)) if many else None
    root = draw.draw(st.integers(0, ranks - 1))
    rooted = operation in ("bcast", "reduce", "scatter", "gather")
    call = Call(
        operation,
        ranks,
        0 if operation == "barrier" else size,
        root if rooted else 0,
        degree,
    )
    name = draw.draw(st.sampled_from(sorted(list_schedule_names(call))))
    schedule = call.schedule(name)
    _, source, target, sizes = schedule.all_messages()
    expected = Counter(
        zip(source.tolist(), target.tolist(), sizes.tolist(), strict=True)
    )
    found = Counter(run_operations(read_operations(write_goal(call, name))))
    if operation != "barrier":
        expected = Counter({key: n for key, n in expected.items() if key[2] > 0})
    if not name.startswith(("k-prefix", "k-shift")):  # k-schedules also have barriers
        assert found == expected


def test_each_round_waits_for_the_whole_previous_round() -> None:
    text = write_goal(Call("allreduce", 4, 8), "recursive-doubling")
    assert read_operations(text)[0].keys() == {"l1", "l2", "l3", "l4", "l5", "l6"}
    rank = read_operations(text)[0]
    assert [rank[label].kind for label in ("l1", "l2", "l3")] == [
        "recv",
        "send",
        "calc",
    ]
    assert rank["l3"].requires == ["l1", "l2"]
    assert rank["l4"].requires == rank["l5"].requires == ["l3"]


@pytest.mark.parametrize(
    ("operation", "name", "nanoseconds"),
    [("allreduce", "recursive-doubling", 300), ("allgather", "ring", 100)],
)
def test_goal_computation_equals_the_modeled_reduction_and_copy_time(
    operation: str, name: str, nanoseconds: int
) -> None:
    """With two ranks, one block of a thousand bytes is combined or copied."""
    costs = MessageCosts()
    costs.gamma, costs.reduce = 1e-10, 3e-10
    model = NetworkModel.regimes([(1e-6, 1e-9, None)], costs)
    text = goal.write(ExportRequest(Call(operation, 2, 1000), name, model))
    work = [one.size for one in read_operations(text)[0].values() if one.kind == "calc"]
    assert max(work) == nanoseconds


def test_goal_exports_with_too_many_messages_are_refused() -> None:
    with pytest.raises(Error, match=r"alltoall among 4096 ranks has more than 4,194"):
        write_goal(Call("alltoall", 4096, 8), "at-once")
