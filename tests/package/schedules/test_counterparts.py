# SPDX-License-Identifier: BSD-3-Clause
"""Tuning rules for MPI libraries select the fastest algorithm for all sizes."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from hypothesis import given, strategies as st

from topoloom import Allocation, Error, Machine
from topoloom.model import load_model
from topoloom.schedules import RankSlots
from topoloom.schedules.choose import Call, make_strategy
from topoloom.schedules.exports import intel_mpi, mpich, mpich_5, open_mpi
from topoloom.schedules.exports.matching_algorithms import (
    MpiFunction,
    choose_algorithms,
)
from topoloom.schedules.exports.request import ExportRequest
from topoloom.schedules.joint_search import make_block_order

MODEL = load_model("hdr").model
TABLES = {
    each.NAME: each.TABLE  # type: ignore[attr-defined]
    for each in (open_mpi, mpich, mpich_5, intel_mpi)
}


def list_fastest_algorithms(function: MpiFunction, call: Call) -> set[str]:
    """List the names of the fastest algorithms among those without segments."""
    strategy = make_strategy(call, MODEL)
    costs = {}
    for each in function.algorithms:
        if not each.matches(call.ranks) or each.schedule == "chain":
            continue
        try:
            schedule = call.schedule(each.schedule)
        except Error:  # the schedule does not support this number of ranks
            continue
        costs[each.algorithm] = strategy.cost(schedule).time
    least = min(costs.values())
    return {name for name, cost in costs.items() if cost <= least * (1 + 1e-9)}


@given(
    library=st.sampled_from(sorted(TABLES)),
    exponent=st.integers(1, 6),
    size=st.integers(1, 1 << 20),
    draw=st.data(),
)
def test_the_fastest_algorithm_of_a_library_is_chosen(
    library: str, exponent: int, size: int, draw: st.DataObject
) -> None:
    table = TABLES[library]
    operation = draw.draw(st.sampled_from(sorted(table)))
    ranks = 1 << exponent
    size = 0 if operation == "barrier" else 1 << size.bit_length()
    call = Call(operation, ranks, size)
    for function, spans in choose_algorithms(
        [ExportRequest(call, "", MODEL)], table, library
    ):
        span = next(each for each in spans if each.first <= ranks <= each.last)
        counted = size * ranks if function.counts_all_ranks else size
        choice = [each for each in span.choices if each.bytes <= counted][-1]
        assert choice.segment or choice.algorithm in list_fastest_algorithms(
            function, call
        )


@given(library=st.sampled_from(sorted(TABLES)), ranks=st.integers(2, 40))
def test_rule_ranges_cover_every_rank_count_once(library: str, ranks: int) -> None:
    call = Call("alltoall", ranks, 8)
    (_, spans), *_ = choose_algorithms(
        [ExportRequest(call, "", MODEL)], TABLES[library], library
    )
    assert (spans[0].first, spans[-1].last) == (2, ranks)
    for before, after in itertools.pairwise(spans):
        assert before.last + 1 == after.first
        assert before.choices != after.choices
    for span in spans:
        sizes = [choice.bytes for choice in span.choices]
        assert sizes[0] == 0
        assert sizes == sorted(set(sizes))


def test_rules_for_a_machine_apply_only_to_its_rank_count() -> None:
    machine = Machine("torus:4x4,bandwidth=1GB/s+node:1,startup=1us")
    allocation = Allocation.whole(machine)
    call = Call("allreduce", 16, 8)
    slots = RankSlots(allocation, make_block_order(call, allocation))
    request = ExportRequest(call, "", None, slots)
    assert "\n16 # ranks and more\n" in open_mpi.write(request)
    assert open_mpi.write(request).endswith("17 # ranks and more\n1\n0 0 0 0\n")
    tree = json.loads(mpich.write(request))["collective=allreduce"]["comm_type=intra"]
    assert list(tree) == ["comm_size<=15", "comm_size<=16", "comm_size=any"]


def test_ranges_of_intel_mpi_cover_every_size() -> None:
    call = Call("bcast", 64, 8)
    text = intel_mpi.write(ExportRequest(call, "", MODEL))
    found = re.fullmatch(r'export I_MPI_ADJUST_BCAST="(.*)"\n', text)
    assert found
    end = -1
    for rule in found[1].split(";"):
        algorithm, first, last = re.fullmatch(r"(\d+):(\d+)-(\d+)", rule).groups()  # type: ignore[union-attr]
        assert int(first) == end + 1
        end = int(last)
        best = list_fastest_algorithms(
            intel_mpi.TABLE["bcast"][0], call._replace(bytes=int(first))
        )
        assert algorithm in best
    assert end == 2**31 - 1


def test_unsupported_collectives_are_refused_with_a_list_of_supported_ones() -> None:
    call = Call("many-to-many", 8, 8, degree=2)
    with pytest.raises(
        Error, match=r"^mpich has no algorithm .* choose one of allgather"
    ):
        mpich.write(ExportRequest(call, "", MODEL))
