# SPDX-License-Identifier: BSD-3-Clause
"""Readers of files by format, with the contents of seed files."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topoloom import CommGraph, Machine, load_graph
from topoloom.allocations.jobs_file import load_jobs
from topoloom.graphs.graph_file import save_graph
from topoloom.graphs.traces.trace_formats import read_trace
from topoloom.placements.placement_file import load_placement

sys.path.insert(0, str(Path(__file__).parents[1] / "graphs/traces"))

import trace_writers

#: Bytes are kept as characters of this encoding, so that texts and bytes are mutated
#: alike.
ENCODING = "latin-1"


class FileTarget(NamedTuple):
    """A reader, a file name that it accepts, and seed contents."""

    name: str
    read: Callable[[Path], object]
    seeds: tuple[str, ...]


def list_trace_targets() -> dict[str, FileTarget]:
    """Write each kind of trace of a job; the seed is one file."""
    alone = trace_writers.MeshJob(
        (1,), (trace_writers.JobStep("allreduce", (0,), 3, 2),)
    )
    job = trace_writers.MeshJob(
        (2, 2),
        (
            trace_writers.JobStep("allreduce", (0, 1), 3, 2),
            trace_writers.JobStep("send", (1,), 2, 1),
        ),
    )
    writers = {
        "flight-recorder": trace_writers.write_flight_recorder,
        "flight-recorder JSON": partial(
            trace_writers.write_flight_recorder, as_pickle=False
        ),
        "kineto": trace_writers.write_kineto,
        "nccl-inspector": trace_writers.write_inspector,
        "chakra": trace_writers.write_chakra,
    }
    targets = {}
    for title, write in writers.items():
        with tempfile.TemporaryDirectory() as folder:
            kind = title.partition(" ")[0]
            # Chakra's files name ranks, which must have files, too.
            write(alone if kind == "chakra" else job, Path(folder))
            files = sorted(Path(folder).glob("*.et")) or sorted(Path(folder).iterdir())
            used = files if kind == "nccl-inspector" else files[:1]
            seed = "".join(file.read_bytes().decode(ENCODING) for file in used)
            read = partial(read_trace, kind=kind, partial=True)
            targets[title] = FileTarget(files[0].name, read, (seed,))
    return targets


def write_archive() -> str:
    """Return the content of a graph as .npz."""
    graph = CommGraph.from_edges(
        3, np.array([0, 1], np.uint32), np.array([1, 2], np.uint32), np.array([5, 6])
    )
    with tempfile.TemporaryDirectory() as folder:
        save_graph(Path(folder, "g.npz"), graph)
        return Path(folder, "g.npz").read_bytes().decode(ENCODING)


HLO = (
    "HloModule m, replica_count=2, num_partitions=2\n\nENTRY main {\n"
    "  p = f32[8] parameter(0)\n  ROOT r = f32[8] all-reduce(p), channel_id=1, "
    "replica_groups=[2,2]<=[4], use_global_device_ids=true, to_apply=add\n}\n"
)
GOAL = "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 8b from 0\n}\n"
PLACEMENT = json.dumps(
    {
        "format": "topoloom-placement",
        "version": 1,
        "machine": "torus:2x2",
        "allocation": {"nodes": [0, 1, 2, 3]},
        "placement": [0, 1, 2, 3],
        "objective": "hop-bytes",
        "values": {"hop_bytes": 8},
        "mapper": "auto",
        "seed": 1,
        "work": 1,
        "topoloom": "0.1.0",
    }
)
FILES = {
    "npz": FileTarget("g.npz", load_graph, (write_archive(),)),
    "matrix-market": FileTarget(
        "g.mtx",
        load_graph,
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n",),
    ),
    "dense": FileTarget("g.mat", load_graph, ("0 1\n2 0\n",)),
    "goal": FileTarget(
        "g.goal",
        load_graph,
        (GOAL,),
    ),
    "monitoring": FileTarget(
        "g_0.prof", load_graph, ("E\t0\t1\t300 bytes\t3 msgs sent\t4,0,0,15,4,2,1,3\n",)
    ),
    "placement": FileTarget("p.json", load_placement, (PLACEMENT,)),
    "jobs": FileTarget(
        "jobs.txt",
        partial(load_jobs, Machine("torus:3x4x5")),
        ("JOBID NODELIST\n1 0,1,2\n2 3\n",),
    ),
    "hlo": FileTarget("m.txt", partial(read_trace, kind="hlo"), (HLO,)),
    **list_trace_targets(),
}


def read_content(target: FileTarget, content: str) -> None:
    """Write the content to a file and read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, target.name)
        path.write_bytes(content.encode(ENCODING, errors="replace"))
        target.read(path)
