# SPDX-License-Identifier: BSD-3-Clause
"""Samples and measurement orders are read back as written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.probe.job.samples import (
    Exchange,
    Order,
    ProbeSamples,
    RankPlace,
    load_samples,
    parse_order,
    save_samples,
)
from topoloom.probe.job_checks import check_ranks, describe_crowded_hosts
from topoloom.probe.stages.effort import EFFORTS, choose_window
from topoloom.probe.stages.rates import PairPattern, choose_long_size
from topoloom.probe.stages.scan import count_rounds

ORDERS = [
    Order("sampling", rest="5 100 0.05 1"),
    Order("among", rest="0 2 ; 1 3"),
    Order("circle", "echo", [512], 4, "0 3"),
    Order("alone", "burst", [1, 2, 4], 16, "0-1 2-3"),
    Order("together", "burst", [1 << 20], 4, "5 0-1 2-3"),
    Order("clocks"),
    Order("noise", rest="2000"),
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.how)
def test_measurement_orders_are_read_back_as_written(order: Order) -> None:
    assert parse_order(order.line) == order


def test_samples_are_read_back_as_written(tmp_path: Path) -> None:
    places = [RankPlace("a", "0", "MPI 1"), RankPlace("b", "", "MPI 1")]
    samples = ProbeSamples(places, list(ORDERS))
    for order, size in ((2, 512), (3, 1), (3, 4), (6, 0)):
        seconds = np.random.default_rng(order).random(order + 3)
        form = ORDERS[order]
        kind = form.kind or form.how
        samples.exchanges.append(
            Exchange(order, form.how, kind, size, form.window, 0, 1, seconds)
        )
    save_samples(tmp_path / "m.npz", samples, np.zeros((2, 2)))
    read = load_samples(tmp_path / "m.npz")
    assert (read.places, read.orders) == (samples.places, samples.orders)
    for ours, theirs in zip(read.exchanges, samples.exchanges, strict=True):
        assert ours[:7] == theirs[:7]
        assert (ours.seconds == theirs.seconds).all()


def test_files_other_than_samples_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", x=1)
    (tmp_path / "text.npz").write_text("no archive")
    for name in ("other.npz", "text.npz"):
        with pytest.raises(Error, match=r"not complete samples of a probe"):
            load_samples(tmp_path / name)


@given(st.integers(1, 100))
def test_rounds_pair_every_two_ranks_of_a_set(count: int) -> None:
    assert count_rounds([range(count)]) in (count - 1, count)


def test_measured_pair_counts_increase_up_to_all_pairs() -> None:
    pairs = [(2 * n, 2 * n + 1) for n in range(11)]
    assert PairPattern("x", pairs, 5).counts == [1, 2, 3, 4, 5, 6, 8, 11]
    assert PairPattern("x", pairs, 5, whole=False).counts == [5, 11]


@given(st.floats(1e-7, 1e-3), st.floats(1e-11, 1e-8))
def test_long_sizes_are_dominated_by_bandwidth(alpha: float, beta: float) -> None:
    size = choose_long_size(alpha, beta)
    assert 1 << 18 <= size <= 1 << 22
    assert size == 1 << 22 or 4 * size * beta >= 10 * alpha


def test_longer_messages_have_smaller_windows() -> None:
    windows = [choose_window(size) for size in EFFORTS["thorough"].sizes]
    assert windows == sorted(windows, reverse=True)
    assert (windows[0], windows[-1]) == (16, 2)


def make_samples(*masks: str) -> ProbeSamples:
    return ProbeSamples([RankPlace("n1", mask, "MPI") for mask in masks])


def test_overcommitted_nodes_are_reported_as_doubts() -> None:
    assert describe_crowded_hosts(make_samples("0", "1")) == []
    assert describe_crowded_hosts(make_samples("", "", "")) == []
    (doubt,) = describe_crowded_hosts(make_samples("0-1", "0-1", "0-1"))
    assert doubt.startswith("n1 has 3 ranks on 2 CPUs: ")


def test_hosts_with_different_libraries_are_refused() -> None:
    samples = ProbeSamples(
        [RankPlace("a", "", "MPICH_4.0"), RankPlace("b", "", "Open_MPI_5.0")]
    )
    with pytest.raises(Error, match=r"a has MPICH 4.0, but b has Open MPI 5.0; "):
        check_ranks(samples)
