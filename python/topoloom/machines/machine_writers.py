# SPDX-License-Identifier: BSD-3-Clause
"""Writes machines: as TOML, or in other programs' formats, with loss of data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error, Machine, NetworkModel
from topoloom.importers.machine_description import AllocatedNode
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.support.files import prefix_errors, write_text

BANDWIDTHS, LATENCIES = "bandwidths", "latencies"
INSIDE, ROUTES = "node levels", "routes"


class MachineWriter(NamedTuple):
    """A format: suffix, writer, and properties lost in addition to names and CPUs.

    The writer is also passed a model of message costs, or None.
    """

    suffix: str
    write: Callable[[Machine, NetworkModel | None], str]
    loses: tuple[str, ...]


def _write_scotch(machine: Machine, model: NetworkModel | None) -> str:
    from topoloom.importers.scotch import write_scotch_target

    return write_scotch_target(machine)


def _write_simgrid(machine: Machine, model: NetworkModel | None) -> str:
    from topoloom.importers.simgrid.clusters import write_simgrid_platform

    return write_simgrid_platform(machine, model)


def _write_metis(machine: Machine, model: NetworkModel | None) -> str:
    from topoloom.importers.metis import write_metis_machine

    return write_metis_machine(machine)


WRITERS: dict[str, MachineWriter] = {
    "scotch": MachineWriter(".tgt", _write_scotch, (BANDWIDTHS, LATENCIES)),
    "simgrid": MachineWriter(".xml", _write_simgrid, ()),
    "metis": MachineWriter(".graph", _write_metis, (LATENCIES, INSIDE, ROUTES)),
}


def save_machine(
    path: str | Path,
    machine: Machine,
    hosts: Sequence[str] = (),
    allocated: Sequence[AllocatedNode] = (),
    node: NodeParts = NO_PARTS,
    remarks: Sequence[str] = (),
    switches: Sequence[str] = (),
    model: NetworkModel | None = None,
    labels: Sequence[str] = (),
    name: str = "",
) -> None:
    """Write a machine in the format of the file suffix: ``.toml`` or `WRITERS`.

    Only ``.toml`` preserves all data, with the remarks as comments; TOML is also
    written to devices such as ``/dev/stdout``. `find_losses` lists the data that other
    formats lose. The message costs in `model` are written if the format supports them.
    Without a name, TOML contains a generated one.

    Raises
    ------
    topoloom.Error
        For an unknown suffix, and for a machine that the format cannot represent.
    """
    path = Path(path)
    if path.suffix == ".toml" or (path.exists() and not path.is_file()):
        from topoloom.machines.machine_facts import machine_name
        from topoloom.machines.machine_toml_writer import write_machine_toml

        about = (hosts, allocated, node, remarks, switches)
        name = name or machine_name(machine, node)
        write_machine_toml(path, machine, name, *about, labels=labels)
        return
    writer = _find_writer(path)
    if writer is None:
        others = ", ".join(f"{each.suffix} ({name})" for name, each in WRITERS.items())
        raise Error(f"{path}: unknown suffix; machines are written as .toml, {others}")
    with prefix_errors(path):
        if machine.has_failures:
            raise Error("failures can be written only to .toml files")
        if node.types:
            raise Error("nodes that differ can be written only to .toml files")
        text = writer.write(machine, model)
    write_text(path, text)


def find_losses(
    path: str | Path,
    machine: Machine,
    hosts: Sequence[str] = (),
    node: NodeParts = NO_PARTS,
) -> list[str]:
    """List the data that `save_machine` loses or assumes in this file's format."""
    writer = _find_writer(path)
    if writer is None:
        return []
    present = {
        BANDWIDTHS: machine.has_bandwidths,
        LATENCIES: any(machine.latency(link) for link in range(machine.link_count)),
        INSIDE: machine.slots_per_node > 1,
        ROUTES: True,
    }
    lost = ["host names"] if hosts else []
    lost += ["CPUs, memory and devices of nodes"] if node != NO_PARTS else []
    lost += [what for what in writer.loses if present[what]]
    lines = []
    if lost:
        lines.append(f"{path} omits {', '.join(lost)}; a .toml file preserves all data")
    if writer is WRITERS["simgrid"]:
        from topoloom.importers.simgrid.clusters import describe_assumed_rate

        assumed = describe_assumed_rate(machine)
        lines += [f"{path}: {assumed}"] if assumed else []
    return lines


def _find_writer(path: str | Path) -> MachineWriter | None:
    suffix = Path(path).suffix
    return next((each for each in WRITERS.values() if each.suffix == suffix), None)
