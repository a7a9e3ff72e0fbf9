# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files that the examples of the help name, with 64 ranks in most."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from topoloom.cli.app import run
from topoloom.probe.job.samples import Exchange, Order, ProbeSamples, RankPlace
from topoloom.probe.scan_inference import infer_findings
from topoloom.probe.stages.scan import SIZE
from topoloom.tasks.machines.probe import save_findings

HWLOC = Path(__file__).parents[2] / "package/importers/data/virtual_machine.xml"
MACHINE = "torus:4x4x4,bandwidth=10GB/s,latency=1us+node:1,startup=1us"
#: Commands of other examples whose files these examples read.
COMMANDS = """
pattern generate stencil2d --grid 8x8 --bytes 64KiB -o p.npz
pattern generate stencil2d --grid 8x8 --bytes 64KiB -o app.npz
pattern generate alltoall --ranks 64 -o other.npz
pattern generate ring --ranks 32 -o a.npz
pattern generate alltoall --ranks 32 -o b.npz
pattern generate ring --ranks 8 -o p8.npz
pattern generate alltoall --ranks 16 -o p16.npz
pattern generate molecular-dynamics --cells 3x3x3 -o md.npz
allocate --machine torus:8x8x8 --nodes 64 --fragments 4 -o a.txt
map p.npz -m MACHINE -o x.json
map p.npz -m MACHINE --mapper hilbert -o y.json
map p.npz -m torus:8x8x8 -a a.txt --mapper gge -o old.json
map other.npz -m torus:8x8x8 -a n[256-319] --mapper hilbert -o other.json
export y.json --to openmpi-rankfile -o ranks.txt
judge other.npz other.json --write-loads other-loads.json
"""
#: The same, for commands that read the files of this module.
FROM_FILES = """
pattern import step.hlo --collectives keep -o job.npz
model fit pings.csv -o model.toml
"""


def write_example_files() -> None:
    """Write the files into the current directory."""
    _run_commands(COMMANDS)
    _write_graphs()
    _write_traces()
    _write_site_files()
    _write_loads()
    _write_measurements()
    _write_probe(Path("m.toml"))
    _run_commands(FROM_FILES)
    Path("mine.py").write_text("def place(problem):\n    return range(64)\n")


def _run_commands(lines: str) -> None:
    for line in lines.strip().replace("MACHINE", MACHINE).split("\n"):
        assert run(line.split()) == 0, line


def _write_lines(file: str, lines: Iterable[object]) -> None:
    Path(file).write_text("".join(f"{line}\n" for line in lines))


def _list_mesh_neighbors(vertex: int, side: int) -> list[int]:
    row, column = divmod(vertex, side)
    near = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return [r * side + c for r, c in near if 0 <= r < side and 0 <= c < side]


def _write_graphs() -> None:
    near = [_list_mesh_neighbors(vertex, 16) for vertex in range(256)]
    edges = sum(map(len, near)) // 2
    rows = (" ".join(str(other + 1) for other in one) for one in near)
    _write_lines("mesh.graph", [f"256 {edges}", *rows])
    _write_lines("mesh.part.16", (min(v // 12, 15) for v in range(256)))
    ring = [f"{i + 1} {(i + 1) % 16 + 1} 4096" for i in range(16)]
    banner = "%%MatrixMarket matrix coordinate real general"
    _write_lines("matrix.mtx", [banner, "16 16 16", *ring])


def _write_traces() -> None:
    goal = ["num_ranks 64"]
    for rank in range(64):
        sent = f"l1: send 65536b to {(rank + 1) % 64} tag 0"
        received = f"l2: recv 65536b from {(rank - 1) % 64} tag 0"
        goal += [f"rank {rank} {{", sent, received, "}"]
    _write_lines("trace.goal", goal)
    _write_lines("run.goal", goal)
    summed = "f32[1024]{0} all-reduce(%p), channel_id=1, replica_groups={{0,1,2,3}}"
    hlo = (
        "HloModule jit_step, is_scheduled=true, num_partitions=4\n\n"
        "ENTRY %main (p: f32[1024]) -> f32[1024] {\n"
        f"  ROOT %x = {summed}, use_global_device_ids=true\n}}\n"
    )
    Path("step.hlo").write_text(hlo)
    entry = {
        "record_id": 0,
        "pg_id": 0,
        "process_group": ("0", "desc"),
        "profiling_name": "nccl:all_reduce",
        "input_sizes": [[1024]],
        "input_dtypes": ["Float"],
        "output_sizes": [[1024]],
        "output_dtypes": ["Float"],
        "state": "completed",
        "is_p2p": False,
    }
    group = {"name": "0", "desc": "", "ranks": "[0, 1]"}
    dump = {"version": "2.10", "pg_config": {"0": group}, "entries": [entry]}
    Path("dumps").mkdir()
    for rank in range(2):
        Path(f"dumps/nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump))


def _write_site_files() -> None:
    leaves = [f"SwitchName=s{i} Nodes=n[{16 * i + 1}-{16 * i + 16}]" for i in range(4)]
    top = ["SwitchName=s4 Nodes=gpu[1-4]", "SwitchName=top Switches=s[0-4]"]
    _write_lines("topology.conf", leaves + top)
    for name in ("node.xml", "gpu.xml", "cpu.xml"):
        shutil.copy(HWLOC, name)
    labels = {f"gpu-{i}": {"spine": "s1", "leaf": f"l{i // 3}"} for i in range(1, 5)}
    items = []
    for node, places in {**labels, "cpu-1": {}}.items():
        found = {f"network.topology.nvidia.com/{k}": v for k, v in places.items()}
        if found:
            found |= {
                "nvidia.com/gpu.count": "8",
                "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
            }
        metadata = {"name": node, "labels": found}
        items.append({"kind": "Node", "metadata": metadata})
    Path("nodes.json").write_text(json.dumps({"kind": "List", "items": items}))
    _write_lines("pool.txt", range(128, 192))
    _write_lines("free.txt", range(0, 512, 2))


def _write_loads() -> None:
    random = np.random.default_rng(1)
    _write_lines("loads.csv", random.integers(10, 100, 64))
    tasks = [f"{task},{task % 16},{1 + task % 7},1000000" for task in range(128)]
    _write_lines("tasks.csv", ["task,owner,load,bytes", *tasks])
    edges = [f"{task},{(task + 1) % 128},4096" for task in range(128)]
    _write_lines("edges.csv", ["task,task,bytes", *edges])
    _write_lines("traffic.csv", ["source,target,bytes", *edges])
    chosen = [[random.permutation(256)[:8] for _ in range(400)] for _ in range(2)]
    np.savez("routing.npz", topk_ids=chosen)
    counts = random.integers(1, 1000, (2, 256)).tolist()
    Path("counts.json").write_text(json.dumps({"logical_count": counts}))


def _write_measurements() -> None:
    pings = [f"{4**n},{1e-6 + 1e-10 * 4**n}" for n in range(12)]
    _write_lines("pings.csv", ["size,time", *pings])
    pairs = [f"{n},{1e-3 * max(1, n / 4)}" for n in (1, 2, 4, 8, 16)]
    _write_lines("pairs.csv", ["pairs,time", *pairs])
    near = np.arange(8)[:, None] // 4 == np.arange(8) // 4
    costs = np.where(near, 1e-6, 3e-6) * (1 - np.eye(8))
    np.savetxt("costs.csv", costs, delimiter=",")
    measured = [f"node {a},node {b},12.{a % 10}" for a, b in ((0, 5), (1, 2), (8, 13))]
    _write_lines("round1.csv", ["a,b,GB/s", *measured])


def _write_probe(path: Path) -> None:
    """Write a machine as measured by a probe of eight hosts in two groups."""
    places = [RankPlace(f"n{i}", str(i), "Some MPI 1.0") for i in range(8)]
    samples = ProbeSamples(places, [Order("circle", "echo", [SIZE], 1, "0 8")])
    noise = np.random.default_rng(1)
    for a in range(8):
        for b in range(a):
            seconds = (5e-6 if a // 4 == b // 4 else 9e-6) + 1e-9 * noise.random(5)
            one = Exchange(0, "circle", "echo", SIZE, 1, b, a, seconds)
            samples.exchanges.append(one)
    command = ("topoloom", "machine", "probe", "-o", "m.toml", "--", "mpirun")
    save_findings(path, infer_findings(samples), command)
