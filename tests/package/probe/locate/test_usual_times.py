# SPDX-License-Identifier: BSD-3-Clause
"""Laws of usual times: repetitions, order and units do not matter."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given, strategies as st

from probe.bad_parts import make_parts
from topoloom.probe.locate.machine_parts import Pair
from topoloom.probe.locate.pair_tables import PairValue, compare_pair_values

PARTS = make_parts("tree:4:4")
PAIRS = list(combinations(range(16), 2))

tables = st.dictionaries(
    st.sampled_from(PAIRS), st.floats(0.5, 50), min_size=1, max_size=40
).map(lambda values: [PairValue(pair, value) for pair, value in values.items()])


def compute_ratios(rows: list[PairValue]) -> dict[Pair, float]:
    return {test.pairs[0]: test.ratio for test in compare_pair_values(rows, PARTS)}


@given(rows=tables, data=st.data())
def test_repeated_pairs_do_not_change_ratios(
    rows: list[PairValue], data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(rows), max_size=60))
    shuffled = data.draw(st.permutations([*rows, *again]))
    assert compute_ratios(shuffled) == pytest.approx(compute_ratios(rows))
    assert len(compare_pair_values(shuffled, PARTS)) == len(rows) + len(again)


@given(rows=tables, unit=st.sampled_from([2**-20, 2**-10, 64.0]))
def test_units_do_not_change_ratios(rows: list[PairValue], unit: float) -> None:
    other = [PairValue(row.pair, row.value * unit) for row in rows]
    assert compute_ratios(other) == pytest.approx(compute_ratios(rows))


@given(
    slow=st.sets(st.sampled_from(PAIRS), max_size=len(PAIRS) * 3 // 4),
    factor=st.floats(1.3, 20),
)
def test_a_quarter_of_good_pairs_defines_the_usual_value(
    slow: set[Pair], factor: float
) -> None:
    for hops in {PARTS.distance(*pair) for pair in PAIRS}:
        here = [pair for pair in PAIRS if PARTS.distance(*pair) == hops]
        assume(len(slow & {*here}) < len(here) - len(here) // 4)
    took = {pair: factor if pair in slow else 1.0 for pair in PAIRS}
    assert (
        compute_ratios([PairValue(pair, value) for pair, value in took.items()]) == took
    )
