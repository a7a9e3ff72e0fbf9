# SPDX-License-Identifier: BSD-3-Clause
"""Times of NCCL's collectives: first principles, choices, published rows."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.nccl.hardware import MACHINES, Hardware, machine
from topoloom.nccl.times import OPERATIONS, choices, seconds

hardware = st.sampled_from(list(MACHINES.values()))
#: Bytes that a GPU's or a node's links carry at least, as shares of nccl-tests' bytes.
SHARES = {"allreduce": 2, "bcast": 1, "reduce": 1}


@given(hardware, st.integers(1, 64), st.sampled_from(OPERATIONS), st.integers(0, 33))
def test_more_bytes_take_longer_and_every_way_takes_time(
    given: Hardware, nodes: int, operation: str, power: int
) -> None:
    for choice in choices(given, nodes, operation, 1 << power):
        assert choice.seconds > 0
        assert choice.estimate > 0
    large = [seconds(given, nodes, operation, 1 << p) for p in (power, 34, 36)]
    assert large[0] < large[1] < large[2]


@given(hardware, st.integers(2, 16), st.sampled_from(OPERATIONS))
def test_no_ring_or_exchange_is_faster_than_its_links(
    given: Hardware, nodes: int, operation: str
) -> None:
    bytes, ranks = 1 << 33, nodes * given.gpus
    share = SHARES.get(operation, 1) * (ranks - 1) / ranks
    if operation == "alltoall":
        share = (ranks - given.gpus) / ranks * given.gpus
    fastest = bytes * share / (given.nics * given.nic_rate)
    for choice in choices(given, nodes, operation, bytes):
        if choice.algorithm in ("ring", "pairs"):
            assert choice.seconds >= 0.999 * fastest


def test_small_sums_take_trees_and_large_ones_the_switch_or_a_ring() -> None:
    h100 = machine("dgx-h100")
    assert choices(h100, 4, "allreduce", 8)[0][:2] == ("tree", "LL")
    assert choices(h100, 1, "allreduce", 8)[0][:2] == ("ring", "LL")
    # An answer in nccl-tests 309: one node sums by a ring up to 1 MiB, then NVLS.
    assert choices(h100, 1, "allreduce", 1 << 20)[0].algorithm == "ring"
    assert choices(h100, 1, "allreduce", 1 << 21)[0].algorithm == "nvls"
    a100 = machine("dgx-a100")
    assert choices(a100, 16, "allreduce", 1 << 33)[0][:2] == ("ring", "Simple")
    assert all(c.algorithm == "ring" for c in choices(h100, 2, "allgather", 8))


@pytest.mark.parametrize(
    ("nodes", "bytes", "microseconds"),
    [
        (1, 524288, 19.70),  # dgxc-benchmarking
        (1, 1073741824, 4016.4),
        (2, 8, 24.70),  # nccl-tests 309
        (2, 16777216, 183.8),
        (4, 8, 34.75),
        (4, 8589934592, 45573),
    ],
)
def test_published_rows_of_h100_are_met(
    nodes: int, bytes: int, microseconds: float
) -> None:
    found = seconds(machine("dgx-h100"), nodes, "allreduce", bytes)
    assert found * 1e6 == pytest.approx(microseconds, rel=0.15)


def test_older_releases_sum_in_switches_of_several_nodes_from_smaller_sizes_on() -> (
    None
):
    h100, size = machine("dgx-h100"), 1 << 21
    new = choices(h100, 4, "allreduce", size)[0]
    old = choices(h100, 4, "allreduce", size, release=(2, 26, 2))[0]
    assert (new.algorithm, old.algorithm) == ("tree", "nvls")
    assert old.seconds * 1e6 == pytest.approx(132.2, rel=0.15)  # nccl-tests 309


def test_one_rank_takes_no_time() -> None:
    assert choices(machine("p5"), 1, "allreduce", 8, gpus=1)[0].seconds == 0


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(Error, match="no machine of GPUs 'dgx-h200'"):
        machine("dgx-h200")
    with pytest.raises(Error, match="no collective of NCCL 'scan'"):
        choices(machine("p5"), 2, "scan", 8)
    with pytest.raises(Error, match="on 2 nodes with 9 of 8 GPUs each"):
        choices(machine("p5"), 2, "allreduce", 8, gpus=9)
    with pytest.raises(Error, match="nic_rate of a machine is 0, not above 0"):
        machine("p5").on(nic_rate=0)
