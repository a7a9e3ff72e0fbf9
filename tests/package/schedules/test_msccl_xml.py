# SPDX-License-Identifier: BSD-3-Clause
"""Schedules as MSCCL XML, run by a reference MSCCL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st
from msccl import GpuSimulator, Share

from topoloom import Error
from topoloom.model import load_model
from topoloom.schedules.choose import Call, list_schedule_names
from topoloom.schedules.exports import msccl_xml
from topoloom.schedules.exports.request import ExportRequest

MODEL = load_model("hdr").model
COLLECTIVES = (
    "allgather",
    "allreduce",
    "alltoall",
    "bcast",
    "reduce",
    "reduce_scatter",
)


def write_xml(call: Call, schedule: str) -> str:
    return msccl_xml.write(ExportRequest(call, schedule, MODEL))


def list_expected_contents(call: Call, me: int, chunks: int) -> list[frozenset[Share]]:
    """List the final contents of a GPU's buffer, chunk by chunk."""
    operation, ranks = call.operation, call.ranks
    if operation == "allgather":
        each = chunks // ranks
        return [frozenset({(i // each, i % each)}) for i in range(chunks)]
    if operation == "alltoall":
        each = chunks // ranks
        return [frozenset({(i // each, me * each + i % each)}) for i in range(chunks)]
    if operation == "bcast":
        return [frozenset({(call.root, i)}) for i in range(chunks)]
    first = me * chunks if operation == "reduce_scatter" else 0
    return [
        frozenset((rank, first + i) for rank in range(ranks)) for i in range(chunks)
    ]


def run_on_gpus(call: Call) -> Iterator[int]:
    return iter([call.root] if call.operation == "reduce" else range(call.ranks))


@given(
    operation=st.sampled_from(COLLECTIVES),
    ranks=st.integers(1, 9),
    draw=st.data(),
    seed=st.integers(0, 1 << 20),
)
def test_gpus_end_with_the_data_of_the_collective(
    operation: str, ranks: int, draw: st.DataObject, seed: int
) -> None:
    root = draw.draw(st.integers(0, ranks - 1))
    rooted = operation in ("bcast", "reduce")
    call = Call(operation, ranks, 840 * 8, root if rooted else 0)
    name = draw.draw(st.sampled_from(sorted(list_schedule_names(call))))
    gpus = GpuSimulator(write_xml(call, name))
    gpus.run_steps(seed)
    for me in run_on_gpus(call):
        found = gpus.buffers[me]["o"]
        assert found == list_expected_contents(call, me, len(found)), (call, name)


def test_a_ring_uses_fused_receive_reduce_copy_steps() -> None:
    text = write_xml(Call("allreduce", 4, 4096), "ring")
    assert text.count('type="rrc"') == 4 * 3
    assert 'type="re"' not in text
    assert 'coll="allreduce"' in text


def test_exchanging_reduced_data_needs_a_buffer() -> None:
    text = write_xml(Call("allreduce", 4, 4096), "recursive-doubling")
    assert text.count('type="rrc"') == 4, "the first step sends the unmodified input"
    assert text.count('type="re"') == 4


def test_chunks_are_the_largest_common_divisor_of_all_messages() -> None:
    text = write_xml(Call("allreduce", 8, 1 << 20), "halving")
    assert 'nchunksperloop="8"' in text
    text = write_xml(Call("alltoall", 8, 1 << 20), "bruck")
    assert 'i_chunks="8" o_chunks="8"' in text


@pytest.mark.parametrize("operation", ["gather", "scatter", "scan", "barrier"])
def test_collectives_without_msccl_support_are_refused(operation: str) -> None:
    call = Call(operation, 4, 0 if operation == "barrier" else 64)
    with pytest.raises(Error, match=rf"^MSCCL has no {operation}; it has allgather"):
        write_xml(call, list_schedule_names(call)[0])


def test_unequal_pieces_are_refused_with_suitable_sizes() -> None:
    with pytest.raises(
        Error, match=r"^halving splits 1000003 bytes .* such as 1000000$"
    ):
        write_xml(Call("allreduce", 8, 1000003), "halving")
