# SPDX-License-Identifier: BSD-3-Clause
"""Reads the table of ``nvidia-smi topo -m``: what joins the GPUs of a host."""

from __future__ import annotations

import re
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.cloud.gpu_levels import (
    ACROSS_CPUS,
    NVLINK,
    SAME_CPU,
    SAME_SWITCH,
    describe_gpu_links,
    format_levels,
)
from topoloom.importers.cloud.gpu_tables import GpuTable, check_symmetric, read_table
from topoloom.importers.machine_description import MachineDescription
from topoloom.support.units import counted

#: Distances of PCIe paths: below one switch, at one host bridge or NUMA node, others.
_PCIE = {
    "PIX": SAME_SWITCH,
    "PXB": SAME_SWITCH,
    "PHB": SAME_CPU,
    "NODE": SAME_CPU,
    "SYS": ACROSS_CPUS,
}
#: Bytes/s of an NVLink per direction: of V100, A100 and H100.
_NVLINK_RATE = 25e9
_GPU = re.compile(r"GPU[0-9]{1,3}")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")  # The header is underlined on terminals.
_CELL = re.compile(r"[^\s]+(?: [^\s]+)*")


def read_nvidia_topology(text: str) -> MachineDescription:
    """Read the GPUs of a host; NICs have no slots and are left out with a remark."""
    lines = [_ESCAPE.sub("", line) for line in text.splitlines()]
    header = next(
        (at for at, line in enumerate(lines) if _GPU.match(line.strip())), len(lines)
    )
    if header == len(lines) or "GPU0" not in lines[header].split():
        raise Error("line 1: there is no line that names GPU0, GPU1, ...")
    columns = _split(lines[header])
    devices = [name for name in columns if re.fullmatch(r"(?:GPU|NIC|mlx5_)\w*", name)]
    gpus = [name for name in devices if _GPU.fullmatch(name)]
    lines[header] = "\t".join(devices)
    table = read_table(lines, header, _split)
    check_symmetric(table)
    remarks = []
    if len(devices) > len(gpus):
        remarks.append(f"left out: {counted(len(devices) - len(gpus), 'NIC')}")
    links = _read_links(table, len(gpus))
    distances = [[distance for distance, _ in row] for row in links]
    counts = {count for row in links for _, count in row if count}
    levels = format_levels(distances)
    if len(gpus) == 1 or (levels and len(counts) <= 1):
        node = f"+node:{levels}" if len(gpus) > 1 else ""
        return MachineDescription(f"torus:1{node}", remarks=tuple(remarks))
    rates = {
        (a, b): links[a][b][1] * _NVLINK_RATE
        for a in range(len(gpus))
        for b in range(a + 1, len(gpus))
        if links[a][b][1]
    }
    numa = _find_numa_nodes(table, columns[len(devices) :], len(gpus))
    if not numa:
        remarks.append("assumed: all GPUs at one NUMA node, since not all name one")
    described = describe_gpu_links(numa or [0] * len(gpus), rates)
    if rates:
        remarks.append(
            "assumed: NVLinks of 25 GB/s per direction, as V100 to H100 have"
        )
    return replace(described, remarks=(*remarks, *described.remarks))


def _split(line: str) -> list[str]:
    """Split at tabs, or at two blanks; cells such as "CPU Affinity" have one."""
    return _CELL.findall(line.replace("\t", "  "))


def _read_links(table: GpuTable, gpus: int) -> list[list[tuple[int, int]]]:
    """Read the distance of each pair, and its number of NVLinks."""
    links = []
    for a, row in enumerate(table.rows[:gpus]):
        links.append([_read_link(table, a, cell) for cell in row[:gpus]])
        if any((a == b) != (distance == 0) for b, (distance, _) in enumerate(links[a])):
            raise Error(f"line {table.line + a + 1}: X is not on the diagonal")
    return links


def _read_link(table: GpuTable, row: int, cell: str) -> tuple[int, int]:
    if cell == "X":
        return 0, 0
    if cell in _PCIE:
        return _PCIE[cell], 0
    if match := re.fullmatch(r"NV([1-9][0-9]?)", cell):
        return NVLINK, int(match[1])
    raise Error(
        f"line {table.line + row + 1}: '{cell[:24]}' is none of X, NV#, "
        f"{', '.join(_PCIE)}"
    )


def _find_numa_nodes(table: GpuTable, named: list[str], gpus: int) -> list[int]:
    """Read the NUMA node of each GPU; [] if not all name one."""
    if "NUMA Affinity" not in named:
        return []
    at = named.index("NUMA Affinity")
    texts = [rest[at] if at < len(rest) else "" for rest in table.rest[:gpus]]
    return [int(text) for text in texts] if all(map(str.isdigit, texts)) else []
