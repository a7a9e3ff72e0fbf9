# SPDX-License-Identifier: BSD-3-Clause
"""Times of NCCL collectives: first principles, algorithm choices, published values."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.nccl.hardware import MACHINES, Hardware, find_hardware
from topoloom.nccl.times import OPERATIONS, predict_algorithms

hardware = st.sampled_from(list(MACHINES.values()))
RING_LL = ("ring", "LL")
#: Minimum traffic on the links of a GPU or node, relative to the bytes of nccl-tests.
SHARES = {"allreduce": 2, "bcast": 1, "reduce": 1}


def predict_seconds(
    hardware: Hardware, nodes: int, operation: str, bytes: int
) -> float:
    return predict_algorithms(hardware, nodes, operation, bytes)[0].seconds


@given(hardware, st.integers(1, 64), st.sampled_from(OPERATIONS), st.integers(0, 33))
def test_more_bytes_take_longer_with_every_algorithm(
    given: Hardware, nodes: int, operation: str, power: int
) -> None:
    for choice in predict_algorithms(given, nodes, operation, 1 << power):
        assert choice.seconds > 0
        assert choice.estimate > 0
    large = [predict_seconds(given, nodes, operation, 1 << p) for p in (power, 34, 36)]
    assert large[0] < large[1] < large[2]


@given(hardware, st.integers(1, 64), st.sampled_from(OPERATIONS), st.integers(0, 33))
def test_doubling_the_data_or_dropping_channels_never_saves_time(
    given: Hardware, nodes: int, operation: str, power: int
) -> None:
    once, twice = (
        {
            choice[:2]: choice
            for choice in predict_algorithms(given, nodes, operation, bytes)
            if choice.algorithm != "pairs" or choice.protocol == "Simple"
        }
        for bytes in (1 << power, 2 << power)
    )
    for way, choice in once.items():
        assert choice.seconds <= twice[way].seconds
        assert choice.algorithm == "nvls" or choice.seconds >= choice.estimate


@given(hardware, st.integers(2, 16), st.sampled_from(OPERATIONS))
def test_no_ring_or_alltoall_is_faster_than_its_links(
    given: Hardware, nodes: int, operation: str
) -> None:
    bytes, ranks = 1 << 33, nodes * given.gpus
    share = SHARES.get(operation, 1) * (ranks - 1) / ranks
    if operation == "alltoall":
        share = (ranks - given.gpus) / ranks * given.gpus
    fastest = bytes * share / (given.nics * given.nic_rate)
    for choice in predict_algorithms(given, nodes, operation, bytes):
        if choice.algorithm in ("ring", "pairs"):
            assert choice.seconds >= 0.999 * fastest


def test_small_allreduces_use_trees_and_large_ones_the_switch_or_a_ring() -> None:
    h100 = find_hardware("dgx-h100")
    assert predict_algorithms(h100, 4, "allreduce", 8)[0][:2] == ("tree", "LL")
    assert predict_algorithms(h100, 1, "allreduce", 8)[0][:2] == ("ring", "LL")
    # nccl-tests issue 309: on one node, NCCL uses a ring up to 1 MiB, and NVLS above.
    assert predict_algorithms(h100, 1, "allreduce", 1 << 20)[0].algorithm == "ring"
    assert predict_algorithms(h100, 1, "allreduce", 1 << 21)[0].algorithm == "nvls"
    a100 = find_hardware("dgx-a100")
    assert predict_algorithms(a100, 16, "allreduce", 1 << 33)[0][:2] == (
        "ring",
        "Simple",
    )
    assert all(
        c.algorithm == "ring" for c in predict_algorithms(h100, 2, "allgather", 8)
    )


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
def test_published_rows_of_h100_are_reproduced(
    nodes: int, bytes: int, microseconds: float
) -> None:
    found = predict_seconds(find_hardware("dgx-h100"), nodes, "allreduce", bytes)
    assert found * 1e6 == pytest.approx(microseconds, rel=0.15)


def test_allreduce_time_is_constant_until_all_channels_are_used() -> None:
    # dgxc-benchmarking measured 18.7 us for 32 KiB and 19.7 us for 512 KiB on one H100
    # node.
    h100, sizes = find_hardware("dgx-h100"), [1 << power for power in range(10, 21)]
    times = [
        predict_algorithms(h100, 1, "allreduce", size)[0].seconds for size in sizes
    ]
    full = 12 * 8 * 4096
    same = {t for size, t in zip(sizes, times, strict=True) if 32768 <= size <= full}
    assert len({round(t * 1e9) for t in same}) == 1
    assert times[0] < min(same) < times[-1]
    ring = next(
        c for c in predict_algorithms(h100, 1, "allreduce", full) if c[:2] == RING_LL
    )
    assert ring.seconds == pytest.approx(ring.estimate)


def test_an_intra_node_alltoall_copies_its_own_block_concurrently() -> None:
    h100, size = find_hardware("dgx-h100"), 1 << 28
    beyond = predict_seconds(h100, 1, "alltoall", 2 * size) - predict_seconds(
        h100, 1, "alltoall", size
    )
    assert beyond == pytest.approx(size / h100.nvlink_rate)
    # With blocks of 1 GiB or more, each peer's messages use all channels.
    large = predict_seconds(h100, 1, "alltoall", 1 << 34) - predict_seconds(
        h100, 1, "alltoall", 1 << 33
    )
    assert large == pytest.approx((1 << 33) * 7 / 8 / h100.nvlink_rate)


def test_a_slow_cpu_delays_chunks_of_trees_but_not_large_data() -> None:
    def predict_tree_seconds(
        protocol: str, nodes: int, bytes: int, post_s: float
    ) -> float:
        ways = predict_algorithms(
            find_hardware("dgx-h100").with_changes(post_s=post_s),
            nodes,
            "allreduce",
            bytes,
        )
        return next(way.seconds for way in ways if way[:2] == ("tree", protocol))

    quick, slow = (
        predict_tree_seconds("LL128", 8, 1 << 23, post) for post in (1e-6, 4e-6)
    )
    # Each channel has 512 KiB in chunks of 36,000 bytes; 2 channels per GPU, 4 posts
    # per chunk.
    posts = (1 << 19) / 36000 * 2 * 4
    assert slow - quick == pytest.approx(posts * 3e-6)
    assert predict_tree_seconds("Simple", 8, 1 << 33, 1e-6) == predict_tree_seconds(
        "Simple", 8, 1 << 33, 4e-6
    )
    assert predict_tree_seconds("LL128", 1, 1 << 23, 1e-6) == predict_tree_seconds(
        "LL128", 1, 1 << 23, 4e-6
    )


def test_vendor_settings_exclude_some_protocols() -> None:
    ways = predict_algorithms(find_hardware("a3-mega"), 2, "allreduce", 8)
    assert {way[:2] for way in ways} == {("ring", "Simple"), ("tree", "Simple")}
    assert (
        predict_algorithms(find_hardware("a3-mega"), 2, "alltoall", 8)[0].protocol
        == "Simple"
    )


def test_older_releases_use_switches_of_several_nodes_from_smaller_sizes() -> None:
    h100, size = find_hardware("dgx-h100"), 1 << 21
    new = predict_algorithms(h100, 4, "allreduce", size)[0]
    old = predict_algorithms(h100, 4, "allreduce", size, release=(2, 26, 2))[0]
    assert (new.algorithm, old.algorithm) == ("tree", "nvls")
    assert old.seconds * 1e6 == pytest.approx(132.2, rel=0.15)  # nccl-tests 309


def test_one_rank_takes_no_time() -> None:
    assert (
        predict_algorithms(find_hardware("p5"), 1, "allreduce", 8, gpus=1)[0].seconds
        == 0
    )


def test_invalid_predictions_are_refused() -> None:
    with pytest.raises(Error, match="no machine of GPUs 'dgx-h200'"):
        find_hardware("dgx-h200")
    with pytest.raises(Error, match="no collective of NCCL 'scan'"):
        predict_algorithms(find_hardware("p5"), 2, "scan", 8)
    with pytest.raises(Error, match="on 2 nodes with 9 of 8 GPUs each"):
        predict_algorithms(find_hardware("p5"), 2, "allreduce", 8, gpus=9)
    with pytest.raises(Error, match="nic_rate of a machine is 0, not above 0"):
        find_hardware("p5").with_changes(nic_rate=0)
    with pytest.raises(Error, match=r"protocols of a machine are \('ll',\), not of"):
        find_hardware("p5").with_changes(protocols=("ll",))
