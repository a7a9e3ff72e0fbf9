# SPDX-License-Identifier: BSD-3-Clause
"""Prints network models: size ranges, and additional message costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topoloom._core import NetworkModel


def print_model(model: NetworkModel, where: str = "") -> None:
    """Print all costs of a model; `where` is added to the headings."""
    from topoloom._core import NetworkModel
    from topoloom.cli.console import print_facts
    from topoloom.model.model_toml import format_costs

    print_lines(model, f"bytes{where}")
    if model.alone:
        alone = NetworkModel.regimes(model.alone)
        print_lines(alone, f"bytes alone{where}")
    _print_link_factors(model)
    costs = format_costs(model.costs)
    print_facts([(name.replace("_", " "), text) for name, text in costs.items()])


def print_lines(model: NetworkModel, of: str = "bytes") -> None:
    """Print the size ranges of a model with the bandwidth of each."""
    from topoloom.cli.console import print_table
    from topoloom.model.model_toml import format_time
    from topoloom.support.units import format_bandwidth

    sizes = _format_size_ranges([most for _, _, most in model.lines])
    rows = []
    for (alpha, beta, _), part in zip(model.lines, sizes, strict=True):
        rate = format_bandwidth(1 / beta) if beta else ""
        name = "the largest of" if model.takes_largest else part
        rows.append((name, format_time(alpha, 4), format_time(beta, 4), rate))
    print_table([of, "alpha", "beta", "1 / beta"], rows)


def _print_link_factors(model: NetworkModel) -> None:
    """Print link factors by message size, if they depend on the size."""
    from topoloom.cli.console import print_table

    if not model.link_factors:
        return
    sizes = _format_size_ranges([most for *_, most in model.link_factors])
    rows = [
        (part, f"{latency:.4g}", f"{bandwidth:.4g}")
        for (latency, bandwidth, _), part in zip(model.link_factors, sizes, strict=True)
    ]
    print_table(["bytes", "latency factor of links", "bandwidth factor"], rows)


def _format_size_ranges(ends: list[int | None]) -> list[str]:
    """Format size ranges, given their upper ends; None means unlimited."""
    from topoloom.support.units import format_size

    texts = []
    below = 0
    for most in ends:
        texts.append(
            f"{format_size(below)} and more"
            if most is None
            else f"{format_size(below)} to {format_size(most)}"
        )
        below = 0 if most is None else most + 1
    return texts
