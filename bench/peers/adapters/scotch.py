# SPDX-License-Identifier: BSD-3-Clause
"""Scotch's static mapping by its program, named scotch_gmap in Debian."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from peers.adapters.common import Answer, Request, run_adapter, run_and_measure
from peers.files import (
    format_scotch_graph,
    format_scotch_part,
    format_scotch_torus,
    format_scotch_tree,
    read_scotch_mapping,
)
from peers.instance import Instance


def format_target(instance: Instance) -> str:
    """Write the machine, or its allocated part, as a .tgt file."""
    if instance.hierarchy:
        return format_scotch_tree(instance.hierarchy, instance.distances)
    whole = format_scotch_torus(instance.extents)
    if instance.nodes is None:
        return whole
    return format_scotch_part(instance.nodes, whole)


def options_of(request: Request) -> list[str]:
    """Translate the words of an effort into options.

    ``quality`` prefers quality over speed. ``forced`` allows no imbalance; otherwise
    the imbalance is Scotch's default if ranks = slots, else the instance's.
    """
    words = request.effort.split("-")
    options = ["-cq"] if "quality" in words else []
    if "forced" in words:
        options.append("-b0")
    elif request.instance.n_to_1:
        options.append(f"-b{request.instance.imbalance:g}")
    return options


def solve(request: Request) -> Answer:
    """Run scotch_gmap."""
    instance, answer = request.instance, Answer()
    with tempfile.TemporaryDirectory() as folder:
        graph, target, mapping = (Path(folder) / name for name in ("g", "t", "m"))
        graph.write_text(format_scotch_graph(instance.graph))
        target.write_text(format_target(instance))
        options = ["-vt", *options_of(request)]
        output = run_and_measure(
            ["scotch_gmap", graph, target, mapping, *options], answer
        )
        answer.place = read_scotch_mapping(mapping.read_text(), instance.graph.size)
    spent = re.search(r"Mapping\s+([\d.e+-]+)", output)
    if spent:
        answer.set_search_time(float(spent[1]))
    answer.version = run_and_measure(["scotch_gmap", "-V"], Answer()).splitlines()[0]
    return answer


if __name__ == "__main__":
    run_adapter(solve)
