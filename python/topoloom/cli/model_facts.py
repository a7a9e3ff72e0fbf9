# SPDX-License-Identifier: BSD-3-Clause
"""What the verbs of `topoloom model` show of a model, for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoloom._core import NetworkModel
    from topoloom.model.model_toml import ModelFile

#: verb of `topoloom model` -> the options that it takes
OPTIONS = {
    "list": (),
    "show": ("--figure",),
    "predict": ("--sizes", "--processes-per-node"),
    "fit": ("--output", "--round-trip", "--split", "--figure"),
    "channels": ("--sizes", "--round-trip"),
}


def document(file: ModelFile) -> dict[str, Any]:
    """Return all of a model, in seconds and bytes."""
    from topoloom.model.model_toml import COSTS

    costs = file.model.costs
    return {
        "summary": file.summary,
        "source": file.source,
        "date": file.date,
        "largest" if file.model.takes_largest else "regimes": [
            {"most_bytes": most, "alpha_s": alpha, "beta_s_per_byte": beta}
            for alpha, beta, most in file.model.lines
        ],
        "costs_s": {key: getattr(costs, key) for key in (*COSTS, "node_beta")},
    }


def print_lines(model: NetworkModel) -> None:
    """Print the lines, each with the bandwidth that it comes to."""
    from topoloom.cli.console import print_table
    from topoloom.model.model_toml import time_text
    from topoloom.support.units import format_bandwidth

    rows = []
    below = 0
    for alpha, beta, most in model.lines:
        sizes = f"{below:,} to {most:,}" if most is not None else f"{below:,} and more"
        rate = format_bandwidth(1 / beta) if beta else ""
        name = "the largest of" if model.takes_largest else sizes
        rows.append((name, time_text(alpha, 4), time_text(beta, 4), rate))
        below = 0 if most is None else most + 1
    print_table(["bytes", "alpha", "beta", "1 / beta"], rows)
