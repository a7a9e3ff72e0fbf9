# SPDX-License-Identifier: BSD-3-Clause
"""Objectives and sharing rules can be copied, pickled and compared."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from topoloom import Objective, Sharing

WAYS: list[Callable[[object], object]] = [
    copy.copy,
    copy.deepcopy,
    *(
        lambda value, protocol=protocol: pickle.loads(pickle.dumps(value, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]


@pytest.mark.parametrize("copy_object", WAYS)
@pytest.mark.parametrize(
    "objective",
    [
        Objective.auto,
        Objective.hop_bytes,
        Objective.congestion,
        Objective.congestion_soft,
        Objective.time,
        Objective.weighted(hop_bytes=0.1, congestion=2, time=1 / 3),
    ],
    ids=str,
)
def test_copied_objectives_are_equal(
    copy_object: Callable[[object], object], objective: Objective
) -> None:
    again = copy_object(objective)
    assert again == objective
    assert repr(again) == repr(objective)
    assert hash(again) == hash(objective)


@pytest.mark.parametrize("copy_object", WAYS)
@pytest.mark.parametrize(
    "sharing",
    [Sharing(), Sharing(0), Sharing(0.03), Sharing(capacities=[1, 2.5, 0])],
    ids=repr,
)
def test_copied_sharing_rules_are_equal(
    copy_object: Callable[[object], object], sharing: Sharing
) -> None:
    again = copy_object(sharing)
    assert isinstance(again, Sharing)
    assert again.imbalance == sharing.imbalance
    assert list(again.capacities) == list(sharing.capacities)
