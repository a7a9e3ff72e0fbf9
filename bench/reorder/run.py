# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost and the gain of reordering inside a job.

Usage: ``python bench/reorder/run.py``. First, 100,000 ranks are ordered from gathered
lists, by the C API of libtopoloom: the median of 3 runs. Then, the memory per rank
outside rank 0 is measured with 64 real ranks. Last, the preloaded wrapper's overhead
per call is measured, by medians of 9 alternating runs with and without.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from timings import timings
from topoloom import CommGraph, _core
from topoloom.graphs import random_geometric, stencil
from topoloom.preload.mpi_library import build_reorder_library
from topoloom.preload.shim import add_preload, find_compiler, find_launcher

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LAUNCHERS = ("mpirun.openmpi", "mpirun.mpich")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANKS = 100_000
LIBRARY = Path(str(_core.__file__)).with_name("libtopoloom.so")


class Pattern(ctypes.Structure):
    """``topoloom_pattern``."""

    _fields_ = (
        ("ranks", ctypes.c_size_t),
        ("first", ctypes.c_void_p),
        ("peers", ctypes.c_void_p),
        ("bytes", ctypes.c_void_p),
    )


class Gain(ctypes.Structure):
    """``topoloom_gain``."""

    _fields_ = (
        ("before", ctypes.c_double),
        ("after", ctypes.c_double),
        ("between_before", ctypes.c_int64),
        ("between_after", ctypes.c_int64),
    )


def get_address(array: NDArray[np.generic]) -> ctypes.c_void_p:
    """Return a pointer to an array's first element."""
    return array.ctypes.data_as(ctypes.c_void_p)


def check(status: int, error: ctypes.Array[ctypes.c_char]) -> None:
    """Exit with the library's error message if the status is an error."""
    if status:
        raise SystemExit(error.value.decode())


def reorder_and_get_gain(
    graph: CommGraph, machine: str | None, groups: NDArray[np.int64]
) -> Gain:
    """Order the ranks on a described machine, or on one inferred from the groups."""
    library = ctypes.CDLL(str(LIBRARY))
    process_map, error, gain = (
        ctypes.c_void_p(),
        ctypes.create_string_buffer(256),
        Gain(),
    )
    processes, levels = (ctypes.c_size_t(n) for n in groups.shape)
    error_arguments = (ctypes.byref(process_map), error, ctypes.c_size_t(256))
    if machine is None:
        node = ctypes.c_size_t(1)
        status = library.topoloom_process_map_from_groups(
            processes, levels, node, get_address(groups), *error_arguments
        )
    else:
        text = machine.encode()
        status = library.topoloom_process_map_on_machine(
            text, processes, levels, get_address(groups), *error_arguments
        )
    check(status, error)
    first, peers, amounts = (np.ascontiguousarray(x) for x in make_csr_arrays(graph))
    arrays = (first.ctypes.data, peers.ctypes.data, amounts.ctypes.data)
    pattern = Pattern(graph.rank_count, *arrays)
    result = np.empty(graph.rank_count, np.uint32)
    status = library.topoloom_order(
        process_map,
        ctypes.byref(pattern),
        None,
        get_address(result),
        ctypes.byref(gain),
        *error_arguments[1:],
    )
    check(status, error)
    library.topoloom_process_map_free(process_map)
    return gain


def make_csr_arrays(
    graph: CommGraph,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int64]]:
    """Return the compressed sparse rows of a graph."""
    return graph.first, graph.peer, graph.bytes


def time_mapping() -> None:
    """Time the ordering of 100,000 ranks on scrambled slots."""
    seats = np.random.default_rng(1).permutation(RANKS)
    nodes = seats // 25  # 4,000 nodes of 25 processes
    torus = np.stack([nodes, seats], axis=1).astype(np.int64)
    tree = np.stack([nodes // 40, nodes, seats % 25 // 5], axis=1).astype(np.int64)
    grid = stencil([50, 50, 40], 7, bytes=8192)
    mesh = random_geometric(RANKS, 8192, degree=12.0)
    cases: list[tuple[str, CommGraph, str | None, NDArray[np.int64]]] = [
        ("3-D stencil on a torus", grid, "torus:20x20x10", torus),
        ("3-D stencil on a tree of switches", grid, None, tree),
        ("random geometric graph on a torus", mesh, "torus:20x20x10", torus),
        ("random geometric graph on a tree", mesh, None, tree),
    ]
    print(f"{RANKS:,} ranks, {os.cpu_count()} cores{'':24} seconds  gain")
    for name, graph, machine, groups in cases:
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            gain = reorder_and_get_gain(graph, machine, groups)
            seconds.append(time.perf_counter() - start)
        saved = 1 - gain.after / gain.before
        print(f"{name:45} {statistics.median(seconds):6.2f}  {saved:.1%}")


def run_for_each_mpi(use: Callable[[str, Path, Path], None]) -> None:
    """Call ``use(launcher, compiler, folder)`` for each installed MPI."""
    for name in LAUNCHERS:
        if shutil.which(name):
            with tempfile.TemporaryDirectory() as folder:
                use(name, find_compiler(find_launcher([name])), Path(folder))


def measure_memory(name: str, compiler: Path, folder: Path) -> None:
    """Measure memory with 64 ranks, or with 8 if waiting ranks do not yield."""
    mpi, shims = ROOT / "mpi", ("preload", "start")
    files = sorted([*(mpi / "reorder").glob("*.c"), *(mpi / "process_map").glob("*.c")])
    sources = [file for file in files if not file.name.startswith(shims)]
    words: list[str | Path] = [
        compiler,
        "-w",
        "-O2",
        "-std=gnu11",
        "-include",
        HERE / "counted.h",
    ]
    words += [f"-I{mpi / 'reorder'}", f"-I{mpi / 'process_map'}"]
    words += [f"-I{ROOT / 'core/topoloom/capi'}"]
    words += [HERE / "memory.c", *sources, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"]
    program = folder / "memory"
    subprocess.run([*words, "-o", program], check=True)
    many = ["--oversubscribe", "-n", "64"] if "openmpi" in name else ["-n", "8"]
    done = subprocess.run(
        [name, *many, program],
        env={**os.environ, **AS_ROOT},
        check=True,
        capture_output=True,
        text=True,
    )
    print(f"{name:20} outside rank 0, of {done.stdout.strip()}")


def time_calls(name: str, compiler: Path, folder: Path) -> None:
    """Time calls with and without the wrapper."""
    program = folder / "calls"
    subprocess.run([compiler, "-O2", "-w", HERE / "calls.c", "-o", program], check=True)
    library = build_reorder_library(compiler)
    plain = [name, "-n", "1", str(program)]
    bare = {**os.environ, **AS_ROOT}
    variables = {"TOPOLOOM_REORDER": str(folder / "result")}
    wrapped, environment = add_preload(
        find_launcher(plain), plain, [library], variables, bare
    )
    runs = [(timings(plain, bare), timings(wrapped, environment)) for _ in range(9)]
    for call in runs[0][0]:
        costs = [after[call] - before[call] for before, after in runs]
        before = statistics.median(before[call] for before, _ in runs)
        print(
            f"{name:20} {call:10} {before:9.1f} ns, with the wrapper "
            f"{statistics.median(costs):+.1f} ns ({min(costs):.1f} to {max(costs):.1f})"
        )


if __name__ == "__main__":
    time_mapping()
    run_for_each_mpi(measure_memory)
    run_for_each_mpi(time_calls)
