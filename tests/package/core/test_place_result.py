# SPDX-License-Identifier: BSD-3-Clause
"""Arguments and result of `place`."""

from __future__ import annotations

import pytest

from topoloom import Allocation, Error, Machine, Objective, Sharing, place
from topoloom.graphs import ring
from topoloom.placements import objective_value

TORUS = Allocation.whole(Machine("torus:3x3"))


def test_heuristic_searches_report_no_bound() -> None:
    result = place(ring(9), TORUS, "block")
    assert (result.proven, result.optimal) == (None, False)
    assert repr(result) == f"PlaceResult(9 ranks, work {result.work})"


def test_an_exact_search_proves_its_placement_optimal() -> None:
    result = place(ring(9), TORUS, "exact")
    assert (result.proven, result.optimal) == (9, True)
    assert repr(result).endswith(", proven optimal)")


def test_an_interrupted_exact_search_returns_its_bound() -> None:
    result = place(ring(9), TORUS, "exact", work=0)
    value = objective_value(
        ring(9), TORUS, result.placement, objective=Objective.hop_bytes
    )
    assert result.proven is None or result.proven <= value
    assert result.optimal == (result.proven == value)


def test_a_placement_outlives_its_search_result() -> None:
    placement = place(ring(9), TORUS, "block").placement
    assert placement.slots.tolist() == list(range(9))


def test_an_objective_is_a_value_or_its_name() -> None:
    for value, name in (
        (Objective.auto, "auto"),
        (Objective.hop_bytes, "hop-bytes"),
        (Objective.congestion, "congestion"),
        (Objective.congestion_soft, "congestion-soft"),
        (
            Objective.weighted(hop_bytes=1, congestion=0.5),
            "weighted(hop-bytes=1,congestion=0.5)",
        ),
    ):
        assert value == Objective(name) != name
        assert hash(value) == hash(Objective(name))
        assert (str(value), repr(value)) == (name, f"Objective('{name}')")
        by_value, by_name = (
            place(ring(9), TORUS, "mahd+congestion", objective=objective)
            for objective in (value, name)
        )
        assert by_value.placement.slots.tolist() == by_name.placement.slots.tolist()


@pytest.mark.parametrize("name", ["congstion", "weighted(hop-bytes)", ""])
def test_an_unknown_objective_is_refused(name: str) -> None:
    with pytest.raises(Error):
        Objective(name)
    with pytest.raises(Error):
        place(ring(9), TORUS, objective=name)


def test_ranks_share_slots_within_an_imbalance_or_given_capacities() -> None:
    graph = ring(18)
    with pytest.raises(Error, match="18 ranks"):
        place(graph, TORUS)
    loads = [2.0] * 9
    for sharing in (Sharing(imbalance=0), Sharing(capacities=loads)):
        slots = place(graph, TORUS, sharing=sharing).placement.slots.tolist()
        assert sorted(slots) == sorted([*range(9), *range(9)])
    assert repr(Sharing(imbalance=0.03)) == "Sharing(imbalance=0.03)"
    assert repr(Sharing(capacities=loads)).endswith("capacities of 9 slots)")
