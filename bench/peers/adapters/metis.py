# SPDX-License-Identifier: BSD-3-Clause
"""METIS, a partitioner: block i goes to slot i, so the machine does not matter."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from peers.adapters.common import Answer, Request, run_adapter, run_and_measure
from peers.files import read_blocks


def solve(request: Request) -> Answer:
    """Run gpmetis; the effort names the partitioning scheme, kway or rb."""
    instance, answer = request.instance, Answer()
    with tempfile.TemporaryDirectory() as folder:
        # gpmetis writes its output next to its input.
        graph = Path(folder) / "graph"
        graph.symlink_to(instance.folder / "graph.graph")
        command = [
            "gpmetis",
            f"-ptype={request.effort}",
            f"-ufactor={max(1, round(1000 * instance.imbalance))}",
            f"-seed={request.seed}",
            str(graph),
            str(instance.slots),
        ]
        output = run_and_measure(command, answer)
        blocks = Path(f"{graph}.part.{instance.slots}").read_text()
        answer.place = read_blocks(blocks, instance.graph.size)
    spent = re.search(r"Partitioning:\s+([\d.]+)", output)
    if spent:
        answer.set_search_time(float(spent[1]))
    name = re.search(r"METIS (\S+)", output)
    answer.version = name[1] if name else ""
    return answer


if __name__ == "__main__":
    run_adapter(solve)
