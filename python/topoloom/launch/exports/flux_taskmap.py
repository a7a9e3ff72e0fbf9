# SPDX-License-Identifier: BSD-3-Clause
"""Flux task map (RFC 34): blocks of `[first node, nodes, ranks per node, repetitions]`.

Nodes are numbered from 0 in the order that Flux gives the job's nodes; the allocation
must have the same order. The map covers all nodes of the job and takes one line.
"""

from __future__ import annotations

import itertools
import json
import shlex

import numpy as np

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.exports.mpich_rankmap import join_runs
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import RankLocation, repeat_hosts
from topoloom.launch.uniform_binding import (
    can_bind_uniformly,
    find_uniform_cpus,
    find_uniform_gpus,
    format_cpu_lists,
)
from topoloom.support.json_values import parse_json


def write(placement: HostPlacement) -> str:
    """Write the map; raise `topoloom.Error` if a host would have no rank."""
    counts = placement.ranks_per_host()
    if counts.size and counts.min() == 0:
        raise Error(
            "a Flux task map gives every node of the job ranks, but host "
            f"'{placement.hosts[int(np.argmin(counts))]}' has none; leave it out of "
            "the allocation, or export to slurm-hostfile and use "
            "--taskmap=hostfile:FILE"
        )
    repeated = itertools.groupby(join_runs(placement.host_runs()))
    blocks = [[*block, len(list(times))] for block, times in repeated]
    return json.dumps(blocks, separators=(",", ":")) + "\n"


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read blocks of RFC 34, also inside of ``{"version": 1, "map": ...}``."""
    document = parse_json(text)
    blocks = document.get("map") if isinstance(document, dict) else document
    if not isinstance(blocks, list) or not all(
        isinstance(block, list)
        and len(block) == 4
        and all(type(number) is int and 0 <= number < 2**31 for number in block)
        for block in blocks
    ):
        raise Error("expected blocks of four numbers, such as [[0,2,4,1]]")
    runs = [
        (first + node, each)
        for first, count, each, repeats in blocks
        for _ in range(repeats)
        for node in range(count)
    ]
    last = max((host for host, _ in runs), default=0)
    if last >= len(job.hosts):
        raise Error(f"the allocation has no node {last}; nodes are numbered from 0")
    return repeat_hosts(runs)[:ranks]


def _get_usage_values(placement: HostPlacement) -> dict[str, str]:
    cores = placement.cores_per_rank
    options = ["-c", str(cores)] if cores > 1 else []
    if (cpus := find_uniform_cpus(placement)) is not None:
        # Only with whole nodes, all listed CPUs belong to the job.
        options += ["-x", "-o"]
        options.append(f"cpu-affinity=map:{format_cpu_lists(cpus, ';')}")
    elif cores > 1:
        options += ["-o", "cpu-affinity=per-task"]
    if (gpus := find_uniform_gpus(placement)) is not None:
        options += ["-o", "gpu-affinity=map:" + ";".join(map(str, gpus))]
    return {"flux_options": "".join(f"{shlex.quote(word)} " for word in options)}


FORMAT = ExportFormat(
    name="flux-taskmap",
    summary="Flux: blocks of ranks by number of the node (RFC 34)",
    usage=(
        "{variables}flux run -N {nodes} -n {ranks} {flux_options}"
        '--taskmap=manual:"$(cat FILE)" ./app'
    ),
    write=write,
    starts_with=r"\[\[|\{.*\"map\"",
    read=read,
    usage_values=_get_usage_values,
    binds="alike",
    selects_gpus=lambda placement: find_uniform_gpus(placement) is not None,
    keeps_slots=can_bind_uniformly,
    hybrid=HybridOptions(binds=True),
)
