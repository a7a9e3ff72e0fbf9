# SPDX-License-Identifier: BSD-3-Clause
"""Orders the processes of a node for collectives along binomial trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topoloom._core import (
    CostGroup,
    CostGroups,
    CostSample,
    Error,
    binomial_order,
    binomial_scatter_steps,
    find_cost_groups,
    group_costs,
)
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.parameter_error import ParameterError, check_int64

if TYPE_CHECKING:
    from topoloom.documents.collectives import OrderDocument, ProcessGroup
    from topoloom.documents.probes import TimeSample

AUTO = "auto"
STANDARD = "standard"
#: Ordering methods that auto compares with the standard order.
METHODS = ("fastest-edge-first", "channel-aware")
METHOD_NAMES = (AUTO, *METHODS, "random", STANDARD)


@dataclass(frozen=True)
class ProcessOrder:
    """A rank order of processes, and the predicted time of a scatter."""

    method: str
    channels: int
    root: int
    sharing: str  # the model of how messages share channels
    groups: CostGroups  # groups of processes with cheap messages
    order: list[int]
    steps: list[float]  # seconds per scatter step, from group means
    standard_steps: list[float]  # seconds per scatter step in the standard order

    def document(self) -> OrderDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "method": self.method,
            "channels": self.channels,
            "root": self.root,
            "sharing": self.sharing,
            "group_of": self.groups.of,
            "groups_chance": self.groups.chance,
            "groups": _make_group_documents(self.groups.groups),
            "order": self.order,
            "scatter_seconds": sum(self.steps),
            "scatter_steps_seconds": self.steps,
            "standard_scatter_seconds": sum(self.standard_steps),
            "standard_scatter_steps_seconds": self.standard_steps,
        }


def _make_group_documents(groups: list[CostGroup]) -> list[ProcessGroup]:
    return [
        {
            "processes": group.members,
            "inside": _make_sample_document(group.inside),
            "into": _make_sample_document(group.into),
            "t": group.t,
            "p": group.p,
            "groups_chance": group.chance,
            "groups": _make_group_documents(group.groups),
        }
        for group in groups
    ]


def _make_sample_document(sample: CostSample) -> TimeSample:
    return {
        "mean_seconds": sample.mean,
        "sigma_seconds": sample.sigma,
        "n": sample.n,
        "outliers": sample.outliers,
    }


def order_processes(
    costs: NDArray[np.float64],
    method: str = AUTO,
    *,
    channels: int = 1,
    root: int = 0,
    seed: int = 1,
    sharing: str = "growing",
    p_value: float = 0.01,
) -> ProcessOrder:
    """Order processes for trees, given the message time of each pair in seconds.

    The method ``auto`` compares the orders of `METHODS` and the standard order by
    predicted time. Without groups, the standard order is returned. `sharing` is the
    model of channel sharing in `schedules.binomial_scatter_steps`. `p_value` limits the
    probability that noise alone is detected as groups.

    Orders and times use the means of `schedules.group_costs`, so that noise does not
    look like fast edges. Only a named `method` uses the unaveraged costs.
    """
    if method not in METHOD_NAMES:
        raise Error(describe_unknown_name("method", method, METHOD_NAMES))
    check_int64("channels", channels, 1)
    check_int64("seed", seed, 0)
    if not 0 <= root < len(costs):
        raise ParameterError(
            "root", f"must be one of the processes 0 to {len(costs) - 1}, not {root}"
        )
    if not 0 < p_value < 1:
        raise ParameterError("p_value", f"must be above 0 and below 1, not {p_value:g}")
    shared = min(channels, len(costs))  # channels beyond one per process have no effect
    groups = find_cost_groups(costs, significance=p_value)
    means = group_costs(costs, groups, significance=p_value)
    tried: tuple[str, ...] = METHODS if groups.groups else ()
    if method != AUTO:
        tried = (method,)
    orders = {
        name: binomial_order(
            means if method == AUTO else costs,
            name,
            root=root,
            channels=shared,
            seed=seed,
        )
        for name in (STANDARD, *tried)
    }
    steps = {
        name: binomial_scatter_steps(
            means, order, channels=shared, groups=groups, reading=sharing
        )
        for name, order in orders.items()
    }
    # Equal times may differ in their last digits: prefer the standard order.
    best = method
    if method == AUTO:
        best = min(orders, key=lambda name: float(f"{sum(steps[name]):.9e}"))
    return ProcessOrder(
        best,
        channels,
        root,
        sharing,
        groups,
        orders[best],
        steps[best],
        steps[STANDARD],
    )
