# SPDX-License-Identifier: BSD-3-Clause
"""KaHIP: global multisection, and kaffpa with mapping, as programs of the wheel."""

from __future__ import annotations

import re
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from peers.adapters.common import (
    Answer,
    Request,
    UnsupportedInstance,
    run_adapter,
    run_and_measure,
)
from peers.files import read_blocks
from peers.hierarchy import make_tree


def solve(request: Request) -> Answer:
    """Run the program for an effort, such as ``multisection-strong``."""
    instance, tree = request.instance, make_tree(request.instance)
    which, preset = request.effort.split("-")[:2]
    found = find_spec("kahip")
    if found is None or found.origin is None:
        raise UnsupportedInstance("not installed: kahip")
    programs = Path(found.origin).parents[1] / "bin"
    answer = Answer(version=version("kahip"))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "blocks"
        command: list[str | Path] = [
            programs / ("global_multisection" if which == "multisection" else "kaffpa"),
            instance.folder / "graph.graph",
            f"--preconfiguration={preset}",
            f"--seed={request.seed}",
            f"--imbalance={100 * instance.imbalance:g}",
            f"--hierarchy_parameter_string={_join_numbers(tree.arities)}",
            f"--distance_parameter_string={_join_numbers(tree.distances)}",
            f"--output_filename={target}",
        ]
        if which == "kway":
            command += [f"--k={instance.slots}", "--enable_mapping"]
        if request.effort.endswith("-balanced"):
            command += ["--enforce_balance"]
        output = run_and_measure(command, answer)
        answer.place = tree.place[read_blocks(target.read_text(), instance.graph.size)]
    spent = r"(?:took|partitioning|mapping) ([\d.e+-]+)$"
    answer.set_search_time(sum(map(float, re.findall(spent, output, re.MULTILINE))))
    return answer


def _join_numbers(numbers: tuple[int, ...]) -> str:
    return ":".join(map(str, numbers))


if __name__ == "__main__":
    run_adapter(solve)
