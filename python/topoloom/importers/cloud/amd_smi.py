# SPDX-License-Identifier: BSD-3-Clause
"""Reads the tables of ``rocm-smi --showtopo`` and ``amd-smi topology``.

Two GPUs that xGMI joins in one hop have a link; if weights differ, only those of the
least weight have. Bandwidths are in the tables of ``rocm-smi --shownodesbw`` and
``amd-smi topology --numa-bw``.
"""

from __future__ import annotations

import re
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.cloud.gpu_levels import (
    ACROSS_CPUS,
    SAME_CPU,
    describe_gpu_links,
    format_levels,
)
from topoloom.importers.cloud.gpu_links import XGMI_ASSUMED
from topoloom.importers.cloud.gpu_tables import GpuTable, check_symmetric, read_table
from topoloom.importers.machine_description import MachineDescription
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted, format_bandwidth

#: Titles of both tools -> table.
_TITLES = {
    "link type between two gpus": "type",
    "link type table": "type",
    "hops between two gpus": "hops",
    "hops table": "hops",
    "weight between two gpus": "weight",
    "weight table": "weight",
    "bandwidth between two gpus": "bandwidth",
    "numa bw table": "bandwidth",
}
_TITLE = re.compile(r"[=\s]*([A-Za-z][A-Za-z ]*?)\s*(?:=+|:)\s*")
_NUMA = re.compile(r"GPU\[([0-9]+)\]\s*:\s*\(Topology\) Numa Node:\s*(-?[0-9]+)\s*")
_BANDWIDTH = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NONE = ("0", "N/A", "SELF", "0-0")


def read_amd_topology(text: str, xgmi: float = 0) -> MachineDescription:
    """Read the GPUs of a host; `xgmi` is bytes/s of a link per direction, or 0."""
    lines = text.splitlines()
    tables = _find_tables(lines)
    types = tables.get("type")
    if types is None:
        raise Error(
            "line 1: there is no table of link types; use rocm-smi --showtopo, or "
            "amd-smi topology"
        )
    check_symmetric(types)
    numa, remarks = _read_numa_nodes(lines, len(types.names))
    linked = _find_links(types, tables)
    if xgmi and (not linked or "bandwidth" in tables):
        has = "has bandwidths" if linked else "has no xGMI"
        raise ParameterError("xgmi", f"is for xGMI without bandwidths; the file {has}")
    if linked:
        rates, rate_remarks = _find_rates(linked, tables, xgmi, numa)
        described = describe_gpu_links(numa, rates)
        remarks += [*described.remarks, *rate_remarks]
        return replace(described, remarks=tuple(remarks))
    distances = [
        [
            0 if a == b else SAME_CPU if numa[a] == numa[b] else ACROSS_CPUS
            for b in range(len(numa))
        ]
        for a in range(len(numa))
    ]
    levels = format_levels(distances)
    if levels:
        node = f"+node:{levels}" if len(numa) > 1 else ""
        return MachineDescription(f"torus:1{node}", remarks=tuple(remarks))
    described = describe_gpu_links(numa, {})
    return replace(described, remarks=(*remarks, *described.remarks))


def _find_tables(lines: list[str]) -> dict[str, GpuTable]:
    tables: dict[str, GpuTable] = {}
    for at, line in enumerate(lines):
        match = _TITLE.fullmatch(line)
        name = _TITLES.get(match[1].lower()) if match else None
        if name is None:
            continue
        header = next((k for k in range(at + 1, len(lines)) if lines[k].strip()), at)
        if name in tables:
            raise Error(f"line {at + 1}: this table appears twice; give one host's")
        tables[name] = read_table(lines, header, str.split)
    names = {tuple(table.names) for table in tables.values()}
    if len(names) > 1:
        raise Error("line 1: the tables name different GPUs")
    return tables


def _read_numa_nodes(lines: list[str], count: int) -> tuple[list[int], list[str]]:
    """Read the NUMA node of each GPU; one node for all if the text has none."""
    found = {
        int(match[1]): int(match[2]) for match in map(_NUMA.fullmatch, lines) if match
    }
    if sorted(found) != list(range(count)) or min(found.values()) < 0:
        return [0] * count, ["assumed: all GPUs at one NUMA node, since none is named"]
    return [found[gpu] for gpu in range(count)], []


def _find_links(types: GpuTable, tables: dict[str, GpuTable]) -> list[tuple[int, int]]:
    """List the pairs of GPUs that xGMI joins directly."""
    pairs = []
    for a, row in enumerate(types.rows):
        for b in range(a + 1, len(row)):
            kind = row[b].upper()
            if kind not in ("XGMI", "PCIE", *_NONE):
                line = types.line + a + 1
                raise Error(
                    f"line {line}: link type '{row[b][:24]}' is not XGMI or PCIE"
                )
            if kind == "XGMI":
                pairs.append((a, b))
    if hops := tables.get("hops"):
        pairs = [(a, b) for a, b in pairs if hops.rows[a][b] == "1"]
    if (weight := tables.get("weight")) and pairs:
        weights = [_read_number(weight, a, b) for a, b in pairs]
        pairs = [
            pair
            for pair, one in zip(pairs, weights, strict=True)
            if one == min(weights)
        ]
    return pairs


def _read_number(table: GpuTable, a: int, b: int) -> int:
    cell = table.rows[a][b]
    match = _BANDWIDTH.fullmatch(cell)
    if match is None:
        raise Error(f"line {table.line + a + 1}: '{cell[:24]}' is not a number")
    return int(match[2] or match[1])


def _find_rates(
    pairs: list[tuple[int, int]],
    tables: dict[str, GpuTable],
    xgmi: float,
    numa: list[int],
) -> tuple[dict[tuple[int, int], float], list[str]]:
    """Find the bytes/s of the pairs; return also remarks."""
    table = tables.get("bandwidth")
    stated: dict[tuple[int, int], float] = {}
    if table is not None:
        stated = {
            (a, b): _read_number(table, a, b) * 1e6  # MB/s
            for a, b in pairs
            if table.rows[a][b] not in _NONE
        }
    rest = [pair for pair in pairs if pair not in stated]
    if not rest:
        return stated, []
    if xgmi:
        return {pair: xgmi for pair in rest}, []
    rate, what = _assume_rate(len(pairs), numa)
    remark = (
        f"assumed: {format_bandwidth(rate)} per direction, that of {what}, "
        f"for {counted(len(rest), 'xGMI link')} without a bandwidth"
    )
    return stated | {pair: rate for pair in rest}, [remark]


def _assume_rate(pairs: int, numa: list[int]) -> tuple[float, str]:
    """Return the bytes/s between two GPUs by the shape of a host, and the GPU."""
    count = len(numa)
    if pairs == count * (count - 1) // 2:
        if count == 8:
            return 64e9, "one link of MI300X"
        # Two links join any two of the four APUs of a host, each a NUMA node: AMD's
        # white paper on CDNA 3; Schieffer et al., arXiv 2508.11298.
        if count == 4 and len(set(numa)) == count:
            return 128e9, "two links of MI300A"
    return XGMI_ASSUMED, "one link of MI250X"
