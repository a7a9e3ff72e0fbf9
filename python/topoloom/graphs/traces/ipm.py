# SPDX-License-Identifier: BSD-3-Clause
"""Reads IPM's XML: the calls of each rank, by peer and size.

A ``<task>`` has an ``<hent>`` for each MPI function, message size and peer, with the
number of calls. Sends are counted; IPM notes receives, too. It does not note the
communicators of collectives, and writes rank 0 for MPI_PROC_NULL.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.graphs.traces.trace import Trace, check_rank_count
from topoloom.graphs.traces.trace_files import read_content
from topoloom.support.files import prefix_errors
from topoloom.support.plain_text import is_number
from topoloom.support.units import counted
from topoloom.support.xml_tree import Element, read_xml

IPM = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<ipm(?:_job_profile)?[\s>]")
#: Functions that IPM notes with the bytes sent, and the rank of the receiver in
#: MPI_COMM_WORLD (`etc/ipm_key_mpi` of IPM 2).
_SENDS = frozenset(
    f"MPI_{name}"
    for name in (
        *("Send", "Isend", "Bsend", "Ibsend", "Ssend", "Issend", "Rsend", "Irsend"),
        *("Sendrecv", "Sendrecv_replace"),
    )
)
_COLLECTIVE_NAMES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw"),
    *("bcast", "exscan", "gather", "gatherv", "reduce", "reduce_scatter", "scan"),
    *("reduce_scatter_block", "scatter", "scatterv"),
)
_COLLECTIVES = frozenset(
    f"MPI_{name}"
    for each in _COLLECTIVE_NAMES
    for name in (each.capitalize(), f"I{each}")
)
#: Functions that send nothing, or whose sender counts what they receive.
_SILENT = re.compile(
    "MPI_(?:Init|Init_thread|Finalize|Barrier|Ibarrier|Recv|Irecv|Probe|Iprobe|Wait.*|"
    "Test.*|.*_init|Buffer_.*|Comm_.*|File_.*)"
)
#: Functions that send what IPM does not note.
_UNKNOWN = ("MPI_Start", "MPI_Startall", "MPI_Put", "MPI_Get", "MPI_Accumulate")
_MAX_COUNT = 1 << 62


def read_ipm(files: Sequence[Path]) -> Trace:
    """Read one file of all ranks, or several with some ranks each."""
    tasks: dict[int, Element] = {}
    sizes = set()
    for file in files:
        with prefix_errors(file):
            root = read_xml(read_content(file).decode(errors="replace"))
            found = [part for part in root.walk() if part.tag == "task"]
            if not found:
                root.fail("there is no <task>; IPM writes one for each rank")
            for task in found:
                rank = task.number("mpi_rank")
                sizes.add(task.number("mpi_size"))
                if rank in tasks:
                    task.fail(f"rank {rank} appears twice")
                tasks[rank] = task
    if len(sizes) > 1:
        raise Error(f"{files[0]}: ranks of jobs with different numbers of ranks")
    (size,) = sizes
    check_rank_count(size)
    trace = Trace(size)
    left_out: Counter[str] = Counter()
    to_zero = 0
    for rank, task in tasks.items():
        if rank >= size:
            task.fail(f"rank {rank} of a job of {size} ranks")
        trace.seen.add(rank)
        to_zero += _read_calls(trace, rank, task, left_out)
    for name, calls in sorted(left_out.items()):
        trace.add_loss(f"{counted(calls, 'call')} of {name}, left out")
    if to_zero:
        trace.add_loss(
            f"{counted(to_zero, 'message')} to rank 0 may be to MPI_PROC_NULL, which "
            "IPM writes alike"
        )
    trace.add_missing_ranks()
    return trace


def _read_calls(trace: Trace, rank: int, task: Element, left_out: Counter[str]) -> int:
    """Count the messages of a rank; return how many are to rank 0."""
    hashes = [part for part in task.children if part.tag == "hash"]
    if not hashes:
        task.fail(
            f"rank {rank} has no <hash>, which IPM writes with IPM_LOG=full; without "
            "it, there are no bytes per pair of ranks"
        )
    to_zero = 0
    entries = [part for each in hashes for part in each.children if part.tag == "hent"]
    expected = sum(each.number("nkey") for each in hashes)
    if len(entries) < expected:
        trace.add_loss(f"rank {rank} has {len(entries)} of {expected} entries")
    for entry in entries:
        name, calls = entry.require("call"), _read_count(entry)
        if name in _SENDS:
            target = entry.number("orank")
            if target >= trace.ranks:
                entry.fail(f"orank {target} of a job of {trace.ranks} ranks")
            trace.send(rank, target, entry.number("bytes"), calls)
            to_zero += calls if target == 0 else 0
        elif name in _COLLECTIVES:
            left_out[f"{name}, whose communicator IPM does not note"] += calls
        elif name in _UNKNOWN:
            left_out[f"{name}, whose receiver IPM does not note"] += calls
        elif name.startswith("MPI_") and not _SILENT.fullmatch(name):
            left_out[f"{name[:40]}, which is not known"] += calls
    return to_zero


def _read_count(entry: Element) -> int:
    text = entry.require("count").strip()
    if not is_number(text) or len(text) > 19:
        entry.fail(f'count="{text[:40]}" is not an integer')
    if (count := int(text)) > _MAX_COUNT:
        entry.fail(f'count="{text}" is too large')
    return count
