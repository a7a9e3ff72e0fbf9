# SPDX-License-Identifier: BSD-3-Clause
"""Array elements are checked one by one: errors name invalid ones, none is cast."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from topoloom import Allocation, CommGraph, Error, Machine, Placement, Sharing, place
from topoloom.graphs import ring
from topoloom.placements import objective_value, solve_qap
from topoloom.schedules import (
    NodeMap,
    Step,
    binomial_scatter_steps,
    find_cost_groups,
    find_free_order,
    meetings_on_routes,
    with_gaps,
)

LINE = Machine("mesh:4")
ALL = Allocation.whole(LINE)
TREE = Machine("fattree:2:2")
FOUR = ring(4)
EDGE = [(0, 1)]

#: (argument name, call with this argument, valid values)
INTEGERS: list[tuple[str, Callable[[Any], object], list[int]]] = [
    ("source", lambda v: CommGraph.from_edges(4, v, [1, 2], [5, 6]), [0, 1]),
    ("target", lambda v: CommGraph.from_edges(4, [0, 1], v, [5, 6]), [1, 2]),
    ("bytes", lambda v: CommGraph.from_edges(4, [0, 1], [1, 2], v), [5, 6]),
    ("messages", lambda v: CommGraph.from_edges(4, [0], [1], [5], messages=v), [3]),
    ("first", lambda v: CommGraph.from_csr(v, [1, 0], [5, 6]), [0, 1, 2]),
    ("peer", lambda v: CommGraph.from_csr([0, 1, 2], v, [5, 6]), [1, 0]),
    ("self_bytes", lambda v: CommGraph.from_csr([0, 0], [], [], self_bytes=v), [7]),
    ("nodes", lambda v: Allocation(LINE, v), [2, 1]),
    ("slots", lambda v: Allocation(LINE, [2, 1], v), [2, 1]),
    ("slots", lambda v: Placement(ALL, v), [2, 1]),
    ("previous", lambda v: place(FOUR, ALL, "block", previous=v), [0, 1, 2, 3]),
    ("node_of_cell", lambda v: NodeMap([2, 2], v), [0, 0, 1, 1]),
    ("node_of_rank", lambda v: meetings_on_routes(LINE, Step([(0, 1)]), v), [2, 3]),
    ("nodes", lambda v: find_free_order(TREE, v, [Step([(0, 1)])]), [2, 3]),
    ("nodes", lambda v: with_gaps(TREE, v), [2, 3]),
    ("order", lambda v: binomial_scatter_steps([[0, 1], [1, 0]], v), [1, 0]),
    ("node_a", lambda v: LINE.hops(v, [0, 1]), [1, 2]),
    ("node_a", lambda v: LINE.route_matrix(v, [0, 1]), [1, 2]),
    ("nodes", lambda v: LINE.hop_matrix(v), [1, 2]),
    ("slots", lambda v: LINE.distance_matrix(v), [1, 2]),
    ("link", lambda v: LINE.bandwidth(v), [1, 2]),
    ("link", lambda v: LINE.link_ends(v), [1, 2]),
    ("links", lambda v: Machine.from_links([v], 1.0), [0, 1]),
    ("routes[0]", lambda v: Machine.from_links(EDGE, 1.0, routes=[v]), [0, 1]),
    ("a", lambda v: solve_qap([v, v], [[0, 1], [1, 0]], work=9), [0, 1]),
]
NUMBERS: list[tuple[str, Callable[[Any], object], list[float]]] = [
    ("load", lambda v: CommGraph.from_edges(2, [0], [1], [5], load=v), [0.5, 2]),
    ("capacities", lambda v: Sharing(capacities=v), [0.5, 2]),
    (
        "background",
        lambda v: objective_value(
            FOUR, ALL, Placement(ALL, range(4)), objective="congestion", background=v
        ),
        [0.5, 1, 2, 3, 4, 5],
    ),
    ("costs", lambda v: find_cost_groups([v, v]), [0, 1.5]),
    ("bandwidth", lambda v: Machine.from_links([(0, 1), (1, 2)], v), [2.5e9, 1e9]),
    ("latency", lambda v: Machine.from_links([(0, 1), (1, 2)], 1, v), [0, 1e-6]),
]

#: 64-bit quantities; all other integers are indices.
QUANTITIES = ("bytes", "messages", "self_bytes", "a", "first", "previous")

each_integer = pytest.mark.parametrize(("name", "call", "fine"), INTEGERS)
each_number = pytest.mark.parametrize(("name", "call", "fine"), NUMBERS)


@each_integer
def test_integers_can_have_any_dtype_that_fits(
    name: str, call: Callable[[Any], object], fine: list[int]
) -> None:
    call(fine)
    call(tuple(fine))
    for kind in ("i1", "u2", "i4", "u4", "i8", "u8", "f4", "f8", ">i4", "longdouble"):
        call(np.array(fine, kind))
        call(np.repeat(np.array(fine, kind), 2)[::2])


@each_integer
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5.9, "is 5.9, not an integer; scale such numbers, and round them"),
        (1e-9, "is 1e-09, not an integer"),
        (np.nan, "is nan"),
        (np.inf, "is inf"),
        (-np.inf, "is -inf"),
        (1e300, r"is 1e\+300; it must be"),
        (2.0**65, r"it must be"),
        (2**64, "does not fit 64 bits|it must be|must be an array"),
        (True, None),
        ("5", None),
        (None, None),
        (1j, None),
    ],
)
def test_an_invalid_number_is_refused_by_name(
    name: str, call: Callable[[Any], object], fine: list[int], value: Any, message: str
) -> None:
    odd = [*fine[:-1], value] if message else np.array([value] * len(fine))
    with pytest.raises(
        (Error, TypeError), match=message or f"^{re.escape(name)}|^row"
    ) as raised:
        call(odd)
    assert str(raised.value).startswith(name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "call", "fine"), [one for one in INTEGERS if one[0] not in QUANTITIES]
)
def test_indices_beyond_32_bits_do_not_wrap(
    name: str, call: Callable[[Any], object], fine: list[int]
) -> None:
    for wrong in (2**32, 2**32 + 1, -1, -(2**32)):
        with pytest.raises(
            Error, match=rf"^{re.escape(name)}\[\d+.*\] is {wrong}; it must be 0 to"
        ):
            call([*fine[:-1], wrong])


@each_number
def test_numbers_must_be_finite(
    name: str, call: Callable[[Any], object], fine: list[float]
) -> None:
    call(fine)
    call(np.array(fine))
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(Error, match=rf"^{name}\[.*\] is .*; it must be finite"):
            call([*fine[:-1], wrong])
    for odd in ("abc", ["a", "b"], [[1, 2], [3]], 7j, np.array([True, False])):
        with pytest.raises((Error, TypeError), match=rf"^{name}\b"):
            call(odd)


def test_fractional_weights_are_not_truncated_to_zero() -> None:
    with pytest.raises(Error, match=r"bytes\[0\] is 0.25, not an integer; scale"):
        CommGraph.from_edges(2, [0], [1], np.array([0.25]))
