# SPDX-License-Identifier: BSD-3-Clause
"""Writes machines: as TOML, or in formats of other programs, which lose something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error, Machine, NetworkModel
from topoloom.importers.machine_description import AllocatedNode
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.support.files import prefix_errors, write_text

BANDWIDTHS, LATENCIES = "bandwidths", "latencies"
INSIDE, ROUTES = "what is inside a node", "routes"


class Writer(NamedTuple):
    """A format: its suffix, its function, and what it loses besides names and CPUs.

    The function also gets a model of message costs, or None.
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


WRITERS: dict[str, Writer] = {
    "scotch": Writer(".tgt", _write_scotch, (BANDWIDTHS, LATENCIES)),
    "simgrid": Writer(".xml", _write_simgrid, ()),
    "metis": Writer(".graph", _write_metis, (LATENCIES, INSIDE, ROUTES)),
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
) -> None:
    """Write a machine in the format of the suffix: ``.toml``, or one of `WRITERS`.

    Only ``.toml`` keeps everything, with the remarks as comments; a device such as
    ``/dev/stdout`` gets TOML, too. `find_losses` lists what other formats lose. The
    costs of messages, `model`, are written if the format can hold them.

    Raises
    ------
    topoloom.Error
        For another suffix, and for a machine that the format cannot express.
    """
    path = Path(path)
    if path.suffix == ".toml" or (path.exists() and not path.is_file()):
        from topoloom.machines.machine_facts import machine_name
        from topoloom.machines.machine_toml_writer import write_machine_toml

        name, about = machine_name(machine, node), (hosts, allocated, node, remarks)
        write_machine_toml(path, machine, name, *about, switches, labels=labels)
        return
    writer = _find_writer(path)
    if writer is None:
        others = ", ".join(f"{each.suffix} ({name})" for name, each in WRITERS.items())
        raise Error(f"{path}: machines are written as .toml, {others}; name it so")
    with prefix_errors(path):
        if machine.has_failures:
            raise Error("failures can be written in a .toml only")
        if node.types:
            raise Error("nodes that differ can be written in a .toml only")
        text = writer.write(machine, model)
    write_text(path, text)


def find_losses(
    path: str | Path,
    machine: Machine,
    hosts: Sequence[str] = (),
    node: NodeParts = NO_PARTS,
) -> list[str]:
    """List what `save_machine` loses in this file, or assumes; nothing for TOML."""
    writer = _find_writer(path)
    if writer is None:
        return []
    present = {
        BANDWIDTHS: machine.has_bandwidths,
        LATENCIES: any(machine.latency(link) for link in range(machine.link_count)),
        INSIDE: machine.slots_per_node > 1,
        ROUTES: True,
    }
    lost = ["names of hosts"] if hosts else []
    lost += ["CPUs, memory and devices of nodes"] if node != NO_PARTS else []
    lost += [what for what in writer.loses if present[what]]
    lines = []
    if lost:
        lines.append(f"{path} leaves out {', '.join(lost)}; a .toml keeps all")
    if writer is WRITERS["simgrid"]:
        from topoloom.importers.simgrid.clusters import assumed_rate

        assumed = assumed_rate(machine)
        lines += [f"{path}: {assumed}"] if assumed else []
    return lines


def _find_writer(path: str | Path) -> Writer | None:
    suffix = Path(path).suffix
    return next((each for each in WRITERS.values() if each.suffix == suffix), None)
