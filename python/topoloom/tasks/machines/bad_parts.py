# SPDX-License-Identifier: BSD-3-Clause
"""Locates the host, cable or switch that explains slow measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom._core import Error
from topoloom.graphs.traces.trace_formats import detect_trace_format, list_files
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.nodes.host_text import is_vacant
from topoloom.nodes.hosts import list_hosts_of_nodes
from topoloom.probe.locate.diagnose_parts import (
    Diagnosis,
    PartTest,
    diagnose_parts,
    limit_rounds,
)
from topoloom.probe.locate.inspector_dumps import read_dump_tests
from topoloom.probe.locate.machine_parts import MachineParts
from topoloom.probe.locate.pair_tables import read_table_tests
from topoloom.tasks.problem import AllocationSpec, choose_allocation

if TYPE_CHECKING:
    from topoloom.documents.probes import LocateDocument


@dataclass(frozen=True)
class LocatedParts:
    """The result of a diagnosis: bad parts, and the pairs to measure next.

    Attributes
    ----------
    found
        Bad parts, and the pairs to measure next.
    hosts, ends
        Names of the hosts, and of the endpoints in `found.plan` (hosts; on rails, pairs
        of host and GPU).
    doubts
        Descriptions of measurements that could not be used.
    """

    found: Diagnosis
    hosts: list[str]
    ends: list[str]
    doubts: list[str]

    def document(self) -> LocateDocument:
        """Return the fields of the ``--json`` output."""
        return {
            **self.found.document(self.ends),
            "rounds_at_most": limit_rounds(len(self.hosts)),
            "doubts": self.doubts,
        }


def locate_bad_parts(
    machine: str | Path,
    measured: Sequence[str | Path] = (),
    allocation: str | None = None,
    partial: bool = False,
) -> LocatedParts:
    """Find the machine parts that explain measurements, and plan the next measurements.

    Parameters
    ----------
    machine
        The machine with the wiring of the hosts: a short text, or a file such as the
        output of `topoloom machine probe`.
    measured
        Files or directories: output of the NCCL or RCCL Inspector, and tables
        ``a,b,GB/s`` of host pairs. If empty, the first round is planned.
    allocation
        The hosts to measure, in a format of `load_allocation`; by default the hosts in
        the machine's description, or all.
    partial
        Whether incomplete dumps are used.

    Raises
    ------
    topoloom.Error
        If a file cannot be read, or the machine does not contain a host.
        `IncompleteTraceError` if a dump is incomplete, unless `partial`.
    """
    parts = _find_testable_parts(machine, allocation)
    dumps: list[Path] = []
    tables: list[Path] = []
    for path in dict.fromkeys(map(str, measured)):  # repeated files are counted once
        files = list_files(path)
        if not files:
            what = "has no files" if Path(path).is_dir() else "there is no such file"
            raise Error(f"{path}: {what}")
        is_dump = detect_trace_format(path) == "nccl-inspector"
        (dumps if is_dump else tables).extend(files)
    tests: list[PartTest] = read_table_tests(tables, parts)
    doubts: list[str] = []
    if dumps:
        of_dumps, doubts = read_dump_tests(dumps, parts, partial)
        tests += of_dumps
    parts = parts.refine_classes([test.pairs for test in tests])
    return LocatedParts(diagnose_parts(parts, tests), parts.hosts, parts.ends, doubts)


def _find_testable_parts(
    machine_text: str | Path, allocation: str | None = None
) -> MachineParts:
    """Return the machine parts that can be tested by messages between the hosts."""
    machine, described = load_machine_and_description(machine_text)
    where = choose_allocation(machine, described, AllocationSpec(allocation=allocation))
    nodes = where.allocation.nodes.tolist()
    named = where.hosts if where.hosts and not described.hosts else None
    of_nodes = zip(nodes, named, strict=True) if named else enumerate(described.hosts)
    names = {node: name for node, name in of_nodes if not is_vacant(name)}
    if names:
        nodes = [node for node in nodes if node in names]
    each = machine.nodes_per_host
    nodes = (list_hosts_of_nodes(machine, nodes) * each).tolist()
    return MachineParts(machine, nodes, names, described.switches, by_gpu=True)
