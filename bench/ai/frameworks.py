# SPDX-License-Identifier: BSD-3-Clause
"""Random jobs of DeepSpeed: our groups compared with the framework's."""

from __future__ import annotations

import ast
import tarfile
from collections import namedtuple
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from topoloom.frameworks.deepspeed import AXES, DeepSpeedJob

#: Maximum ranks of a random job.
MOST = 256


class FrameworkCounts(NamedTuple):
    """Counts per framework: jobs, orders, groups, and differences."""

    name: str
    jobs: int
    orders: int
    groups: int
    different: int


def _draw(random: Random, axes: tuple[str, ...], jobs: int) -> Iterator[dict[str, int]]:
    while jobs:
        sizes = {axis: random.choice((1, 1, 2, 3, 4, 6, 8)) for axis in axes}
        if 1 < prod(sizes.values()) <= MOST:
            jobs -= 1
            yield sizes


def deepspeed_code(sources: Path) -> dict[str, Any]:
    """Load a source distribution's code that makes groups, without PyTorch."""
    names: dict[str, Any] = {"namedtuple": namedtuple, "cartesian_product": product}
    wanted = {
        "deepspeed/runtime/pipe/topology.py": ("ProcessTopology",),
        "deepspeed/utils/groups.py": (
            "_ensure_divisibility",
            "_get_expert_parallel_ranks",
        ),
    }
    with tarfile.open(sources) as files:
        for file in files.getmembers():
            kept = wanted.get(file.name.partition("/")[2], ())
            source = files.extractfile(file) if kept else None
            if source is None:
                continue
            body = [
                one
                for one in ast.parse(source.read()).body
                if getattr(one, "name", "") in kept
            ]
            module = ast.Module(body, [])
            exec(compile(module, file.name, "exec"), names)
    return names


def compare_deepspeed(sources: Path, jobs: int, seed: int) -> FrameworkCounts:
    """Compare every order of axes, with both placements of experts."""
    code = deepspeed_code(sources)
    random = Random(seed)
    orders = groups = different = 0
    for sizes in _draw(random, ("tp", "dp", "pp"), jobs):
        ways = [ep for ep in range(1, sizes["dp"] + 1) if sizes["dp"] % ep == 0]
        job = DeepSpeedJob(**sizes, ep=random.choice(ways))
        for layout in job.layouts():
            orders += 1
            order, _, first = layout.name.partition(" ")
            topology = code["ProcessTopology"](
                [AXES[axis] for axis in order.split("-")],
                [sizes[axis] for axis in order.split("-")],
            )
            theirs = {axis: topology.get_axis_comm_lists(AXES[axis]) for axis in AXES}
            if order == "pp-dp-tp":
                theirs["ep"], theirs["edp"] = code["_get_expert_parallel_ranks"](
                    job.ranks, job.tp, job.ep, job.pp, bool(first)
                )
            for axis, lists in theirs.items():
                groups += len(lists)
                mine = sorted(layout.groups(axis).tolist())
                different += len(lists) * (mine != sorted(lists))
    release = sources.name.removeprefix("deepspeed-").removesuffix(".tar.gz")
    return FrameworkCounts(f"DeepSpeed {release}", jobs, orders, groups, different)


def framework_table(rows: Sequence[FrameworkCounts]) -> str:
    """Format the comparison with the frameworks' groups as Markdown."""
    lines = [
        "| framework | jobs | orders | groups compared | different |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.name} | {row.jobs} | {row.orders} | {row.groups:,} | {row.different} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
