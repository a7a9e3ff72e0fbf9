# SPDX-License-Identifier: BSD-3-Clause
"""Writes network models as lines of a libtopoloom machine file.

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


def format_model(model: NetworkModel) -> str:
    """Write lines ``message MOST ALPHA BETA``, ``alone``, ``links`` and ``cost``.

    Times are in seconds. Lines for messages inside a node begin with ``inside``. A
    model that is a maximum of lines is written as regimes; these can overestimate how
    much processes that share a NIC are slowed down.
    """
    text = _format_lines("message", convert_to_regimes(model)) + _format_lines(
        "alone", model.alone
    )
    text += _format_lines("links", model.link_factors)
    costs = {key: getattr(model.costs, key) for key in (*COSTS, "node_beta", "packet")}
    text += "".join(f"cost {key} {cost:.12g}\n" for key, cost in costs.items() if cost)
    if model.inside is not None:
        inside = format_model(model.inside).splitlines()
        text += "".join(f"inside {line}\n" for line in inside)
    return text


def _format_lines(name: str, lines: Sequence[Line]) -> str:
    return "".join(
        f"{name} {'-' if most is None else most} {first:.12g} {second:.12g}\n"
        for first, second, most in lines
    )


def convert_to_regimes(model: NetworkModel) -> list[Line]:
    """Convert a maximum of lines to regimes."""
    lines = model.lines
    if not model.takes_largest:
        return lines
    regimes: list[Line] = []
    size = 0
    alpha, beta, _ = max(lines, key=lambda line: (line[0], line[1]))
    while True:
        # Continue with the line that crosses the current one first; if several do, the
        # steepest.
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
