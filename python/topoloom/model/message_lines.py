# SPDX-License-Identifier: BSD-3-Clause
"""Network models as lines of a machine file, which libtopoloom reads.

For example::

    message 2047 6.104e-07 1.183e-10
    message - 4.772e-07 4.696e-11
    alone - 9e-07 4.696e-11
    cost send_cpu 1e-07
    inside message - 2e-07 5e-11
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from topoloom._core import NetworkModel
from topoloom.model.model_toml import COSTS

Line = tuple[float, float, int | None]


def message_lines(model: NetworkModel) -> str:
    """Write lines ``message MOST ALPHA BETA``, ``alone``, ``links``, ``cost``, seconds.

    Those of messages inside a node have ``inside`` before them.

    Where the largest of some lines counts, processes of a node that share a card may
    slow each other less than in the model.
    """
    text = _numbers("message", as_regimes(model)) + _numbers("alone", model.alone)
    text += _numbers("links", model.link_factors)
    costs = {key: getattr(model.costs, key) for key in (*COSTS, "node_beta", "packet")}
    text += "".join(f"cost {key} {cost:.12g}\n" for key, cost in costs.items() if cost)
    if model.inside is not None:
        inside = message_lines(model.inside).splitlines()
        text += "".join(f"inside {line}\n" for line in inside)
    return text


def _numbers(name: str, lines: Sequence[Line]) -> str:
    return "".join(
        f"{name} {'-' if most is None else most} {first:.12g} {second:.12g}\n"
        for first, second, most in lines
    )


def as_regimes(model: NetworkModel) -> list[Line]:
    """Say where the largest of some lines counts which one it is up to which size."""
    lines = model.lines
    if not model.takes_largest:
        return lines
    regimes: list[Line] = []
    size = 0
    alpha, beta, _ = max(lines, key=lambda line: (line[0], line[1]))
    while True:
        # The first to overtake it; of those that do so together the steepest.
        steeper = [
            ((alpha - other_alpha) / (other_beta - beta), -other_beta, other_alpha)
            for other_alpha, other_beta, _ in lines
            if other_beta > beta
        ]
        if not steeper:
            return [*regimes, (alpha, beta, None)]
        crossing, minus_beta, other_alpha = min(steeper)
        most = math.floor(crossing)
        if most >= size:
            regimes.append((alpha, beta, most))
            size = most + 1
        alpha, beta = other_alpha, -minus_beta
