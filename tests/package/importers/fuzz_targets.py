# SPDX-License-Identifier: BSD-3-Clause
"""Readers of machine files, their permitted outcomes, and seed texts.

`tests/fuzz` runs them for minutes, `test_fuzz.py` for seconds.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from test_all_importers import SAMPLES

from topoloom import CommGraph, Error, Machine, _core, load_allocation, load_graph
from topoloom.allocations.jobs_file import load_jobs
from topoloom.graphs.graph_file import save_graph
from topoloom.graphs.traces.trace_formats import read_trace
from topoloom.machines.import_formats import IMPORTERS
from topoloom.machines.machine_toml import read_machine_toml
from topoloom.model import load_model
from topoloom.model.fit import fit_model
from topoloom.model.samples import read_pings
from topoloom.placements.placement_file import load_placement
from topoloom.support.hostlist import compress_hostlist, expand_hostlist

sys.path.insert(0, str(Path(__file__).parents[1] / "graphs/traces"))

import trace_writers

#: Limits for each text: CPU time in s, since wall time depends on other processes, and
#: peak memory in bytes.
SECONDS, SECONDS_PER_BYTE = 2.0, 20e-6
MEMORY, MEMORY_PER_BYTE = 64 << 20, 40
#: atheris counts the branches of Python code.
_SLOWDOWN = 10 if "atheris" in sys.modules else 1
#: Longer machine texts may legitimately exceed the time limit.
_MAX_LETTERS_OF_MACHINE = 20_000

SHORT_TEXTS = (
    "torus:17x8x24,wrap=110,nodes=2,order=2:0:1,ties=split,bandwidth=9.4GB/s,"
    "bandwidth.y=half,bandwidth.x-=2GB/s,latency=1.3us,latency.z=2us",
    "mesh:4x4x4+node:16:2,distance=1:2:10",
    "tree:4:8:2,distance=1:10:100,bandwidth=10GB/s:40GB/s:80GB/s,latency=1us",
    "graph:4+1:0-4,1-4,2>4,4>2,3-4@half,route=0>4>1,bandwidth=2GB/s,latency=1us",
    "graph:3:0-1,1-2,0-2,route=0>1>2,bandwidth=1GB/s",
)
TOML = (
    'format = "topoloom-machine"\nversion = 1\nname = "a"\n[topology]\nkind = "torus"\n'
    'size = [3, 4]\nwrap = [true, false]\nnodes = 2\norder = "yx"\nties = "split"\n'
    'hosts = "n[01-24]"\nlatency = "1.3 us"\n'
    'bandwidth = { default = "9 GB/s", y = "half", "x+" = "4.7 GB/s" }\n'
    "[node]\nlevels = [16, 2]\ndistance = [1, 2]\nhop_weight = 10\n",
    'format = "topoloom-machine"\nversion = 1\n[topology]\nkind = "graph"\nnodes = 3\n'
    'switches = 1\nlinks = [[0, 3], [1, 3, "25 GB/s"], "2-3", "0>1"]\n'
    'routes = [[0, 3, 1]]\nbandwidth = "1 GB/s"\nhosts = ["a", "b", "c"]\n',
    'format = "topoloom-machine"\nversion = 1\n[topology]\nkind = "tree"\n'
    'levels = [4, 2]\ndistance = [1, 9]\nbandwidth = ["1 GB/s", "2 GB/s"]\n',
)
METIS = (
    "% a ring\n4 4 1\n2 1 4 2\n1 1 3 1\n2 1 4 1\n3 1 1 2\n",
    "3 2 011 1\n5 2 1\n6 1 1 3 1\n7 2 1\n",
    "2 1\n2\n1\n",
)
MODELS = (
    'format = "topoloom-model"\nversion = 1\nname = "a"\nregimes = [\n'
    '{ most = "2 KiB", alpha = "2 us", beta = "0.1 ns" },\n'
    '{ alpha = "3 us", beta = "0.04 ns" },\n]\n[costs]\nlatency = "1 us"\n'
    'send_cpu = "0.5 us"\ngamma = "1 ns"\nnode_bandwidth = "50 GB/s"\n',
    'format = "topoloom-model"\nversion = 1\n'
    'loggp = { L = "5 us", o = "2 us", g = "3 us", G = "1 ns" }\n',
)
PINGS = (
    "# a\nsize,time\n1,1 us\n64,1.1 us\n1KiB,1200 ns\n65536,5e-6\n1MiB,60 us\n",
    "time,size,rate\n1us,1,2\n1.5us,1,2\n2 us,8,3\n3 us,16,9\n",
)
ALLOCATIONS = (
    "# job\nn[03-05,07]\nn1,n2\n",
    "login 7\nviz 0 0 1\n",
    "0 0 1\n2,3,4\n17\n",
    "(0,0,1)\n(0,0,1) core=3\n",
)
HOST_LISTS = ("n[001-064,070]", "r[1-2]n[1,3],a,b.example.org", "c0-0c0s[0-7]n0")


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
    }
    targets = {}
    for title, write in writers.items():
        with tempfile.TemporaryDirectory() as folder:
            kind = title.partition(" ")[0]
            write(job, Path(folder))
            files = sorted(Path(folder).iterdir())
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
IPM_JOB = """<?xml version="1.0"?><ipm_job_profile>
<task mpi_rank="0" mpi_size="2"><hash nlog="2" nkey="2">
<hent call="MPI_Send" bytes="8" orank="1" count="3">1 1 1</hent>
<hent call="MPI_Bcast" bytes="8" orank="0" count="1">1 1 1</hent></hash></task>
<task mpi_rank="1" mpi_size="2"><hash nlog="1" nkey="1">
<hent call="MPI_Recv" bytes="8" orank="0" count="3">1 1 1</hent></hash></task>
</ipm_job_profile>
"""
ACTIONS = (
    "0 init\n0 send 1 0 1e3 0\n0 bcast 100 1 0\n0 gather 6 6 0 3 3\n0 finalize\n"
    "1 init\n1 alltoallv 3 1 2 3 1 2 1 1\n1 scatterv 1 2 2 1 0 0\n1 finalize\n"
)
PAJE = """\
#This file was generated using SimGrid-3.32.0
%EventDef PajeDefineEntityValue 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 6
% Time date
% Alias string
% Name string
%EndEventDef
%EventDef PajePushState 12
% Time date
% Container string
% Value string
%EndEventDef
%EventDef PajeStartLink 15
% Time date
% StartContainer string
% Key string
% Size int
%EndEventDef
%EventDef PajeEndLink 16
% Time date
% EndContainer string
% Key string
%EndEventDef
1 7 2 PMPI_Isend
6 0.0 1 "rank-0"
6 0.0 2 "rank-1"
12 0.1 1 7
15 0.1 1 1_2_5_1 100
15 0.1 1 1_2_5_2 100
15 0.2 2 2_1_-3334_3 8
16 0.3 1 2_1_-3334_3
"""
PARAVER = (
    "#Paraver (17/01/26 at 16:09):8000_ns:1(3):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
    "3:1:1:1:1:5:6:2:1:2:1:7:8:99:4\n"
    "2:1:1:1:1:20:50000002:7:50100002:50:50100003:1:50100004:1\n"
    "2:2:1:2:1:20:50000002:7:50100002:50:50100004:1\n"
)
_ENTERING = "entering at walltime 1.1, cputime 1.1 seconds in thread 0.\n"
DUMPI = (
    f"MPI_Send {_ENTERING}int count=4\nMPI_Datatype datatype=11 (MPI_DOUBLE)\n"
    "int dest=0\nMPI_Comm comm=2 (MPI_COMM_WORLD)\nMPI_Send returning\n"
    f"MPI_Reduce {_ENTERING}int count=4\nMPI_Datatype datatype=11 (MPI_DOUBLE)\n"
    "int root=0\nMPI_Comm comm=2 (MPI_COMM_WORLD)\nMPI_Reduce returning\n"
    f"MPI_Finalize {_ENTERING}MPI_Finalize returning\n"
)
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
    "ipm": FileTarget(
        "job.ipm.xml", partial(read_trace, kind="ipm", partial=True), (IPM_JOB,)
    ),
    "simgrid-ti": FileTarget(
        "t_0.txt", partial(read_trace, kind="simgrid-ti", partial=True), (ACTIONS,)
    ),
    "paje": FileTarget(
        "t.trace", partial(read_trace, kind="paje", partial=True), (PAJE,)
    ),
    "paraver": FileTarget(
        "t.prv", partial(read_trace, kind="paraver", partial=True), (PARAVER,)
    ),
    "dumpi": FileTarget(
        "t-0000.txt", partial(read_trace, kind="dumpi", partial=True), (DUMPI,)
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


class FuzzTarget(NamedTuple):
    """A reader and its seed texts."""

    read: Callable[[str], None]
    seeds: tuple[str, ...]
    compiled: bool = False  # compiled code, whose coverage Python cannot trace


def _read_import(read: Callable[[str], object], text: str) -> None:
    described = read(text)
    if len(described.text) > _MAX_LETTERS_OF_MACHINE:  # type: ignore[attr-defined]
        return
    try:
        machine = Machine(described.text)  # type: ignore[attr-defined]
    except Error:
        return
    hosts = described.hosts  # type: ignore[attr-defined]
    assert not hosts or len(hosts) == machine.node_count


def _read_toml(text: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        Machine(read_machine_toml(Path(file.name))[0].text)


def _read_model(text: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        assert load_model(Path(file.name)).model.time(64) >= 0


def _read_pings(text: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        assert np.isfinite(fit_model(*read_pings(file.name)).errors).all()


def _read_allocation(text: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        load_allocation(Machine("torus:3x4x5"), Path(file.name))


def _read_host_list(text: str) -> None:
    hosts = expand_hostlist(text, 50_000)
    assert expand_hostlist(compress_hostlist(hosts)) == hosts


TARGETS = {
    **{
        importer.name: FuzzTarget(
            partial(_read_import, importer.read), tuple(SAMPLES[importer.name])
        )
        for importer in IMPORTERS
    },
    "recognize": FuzzTarget(
        lambda text: [importer.recognizes(text) for importer in IMPORTERS] and None,
        tuple(texts[0] for texts in SAMPLES.values()),
    ),
    "short-text": FuzzTarget(lambda text: Machine(text) and None, SHORT_TEXTS, True),
    "toml": FuzzTarget(_read_toml, TOML),
    "metis": FuzzTarget(
        lambda text: _core.read_metis(text.encode()) and None, METIS, True
    ),
    "model": FuzzTarget(_read_model, MODELS),
    "pings": FuzzTarget(_read_pings, PINGS),
    "allocation": FuzzTarget(_read_allocation, ALLOCATIONS),
    "host-list": FuzzTarget(_read_host_list, HOST_LISTS),
    **{
        name: FuzzTarget(partial(read_content, target), target.seeds)
        for name, target in FILES.items()
    },
}


class LimitExceeded(Exception):
    """A text exceeded a limit on time or memory."""


def _restart_peak_memory() -> int:
    """Reset the peak of resident memory, and return the memory in use."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _read_memory("VmRSS")


def _read_memory(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) << 10


def run_target(name: str, text: str) -> str:
    """Read a text; return the reason if it is refused.

    Raises LimitExceeded, and every exception other than `topoloom.Error`.
    """
    target = TARGETS[name]
    size = len(text.encode(errors="surrogatepass"))
    before = _restart_peak_memory()
    begun = time.process_time()
    complaint = ""
    try:
        target.read(text)
    except Error as error:
        complaint = str(error)
        assert complaint
    taken = time.process_time() - begun
    if taken > _SLOWDOWN * (SECONDS + SECONDS_PER_BYTE * size):
        raise LimitExceeded(f"{taken:.1f} s for {size} bytes")
    used = _read_memory("VmHWM") - before
    if used > MEMORY + MEMORY_PER_BYTE * size:
        raise LimitExceeded(f"{used >> 20} MiB for {size} bytes")
    if name in SAMPLES and complaint:
        assert complaint.startswith("line "), complaint
    return complaint


_NUMBERS = (
    *("0", "-1", "1", "2", "65536", "1000000", "4294967296", "9" * 19, "9" * 5000),
    *("1e400", "nan", "0x0", "007", "1.5", "\u0665"),
)
_WORDS = ("\0", "\n", "\n\n", "\t", " ", "\r\n", ",", ":", "[", "]", "(", "-", ">", "@")


def mutate_seeds(rng: random.Random, seeds: tuple[str, ...]) -> str:
    """Make a mutant: cut, repeat, join and overwrite pieces of the seeds."""
    text = rng.choice(seeds)
    for _ in range(rng.randint(1, 5)):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 1, 2, 8, 40, 400)))
        numbers = list(re.finditer("[0-9]+", text[start : start + 400]))
        kind = rng.randrange(6)
        if kind == 0 and numbers:
            number = rng.choice(numbers)
            start, end = start + number.start(), start + number.end()
            middle = rng.choice(_NUMBERS)
        elif kind == 1:
            middle = text[start:end] * rng.choice((0, 2, 3, 50))
        elif kind == 2:
            other = rng.choice(seeds)
            at = rng.randint(0, len(other))
            middle = other[at : at + rng.choice((1, 8, 40, 400))]
        elif kind == 3:
            lines = text.splitlines(keepends=True) or [""]
            rng.shuffle(lines)
            text, start, end, middle = "".join(lines), 0, 0, ""
        elif kind == 4:
            middle = chr(rng.choice((rng.randrange(128), rng.randrange(0x2100))))
        else:
            middle = rng.choice(_WORDS) * rng.choice((1, 1, 2, 300))
        text = text[:start] + middle + text[end:]
    return text
