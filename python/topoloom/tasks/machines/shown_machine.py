# SPDX-License-Identifier: BSD-3-Clause
"""Collects what `topoloom machine show` prints: facts, nodes, hosts, probe results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from topoloom._core import Machine
from topoloom.allocations.described_allocation import described_allocation
from topoloom.importers.machine_description import (
    GivenSpeeds,
    MachineDescription,
    Selection,
)
from topoloom.machines.machine_facts import (
    collect_node_facts,
    machine_facts,
    machine_name,
)
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_writers import find_losses, save_machine
from topoloom.machines.node_files import replace_nodes_from_files
from topoloom.nodes.host_text import drop_vacant, list_vacant_nodes
from topoloom.support.file_kinds import PLACEMENT, find_file_kind
from topoloom.support.hostlist import compress_hostlist
from topoloom.tasks.machines.probe import load_cost_model, read_probe_results

if TYPE_CHECKING:
    from topoloom.documents.machines import MachineDocument


class ShownMachine(NamedTuple):
    """A machine with its description, and its name or file as typed by the user."""

    source: str
    machine: Machine
    described: MachineDescription

    def title(self) -> str:
        """Return the name in the machine's file, and a generated name."""
        own, generated = (
            self.described.name,
            machine_name(self.machine, self.described.node),
        )
        return generated if own in ("", generated) else f"{own}: {generated}"

    def facts(self) -> dict[str, Any]:
        """Collect the facts of the machine, its hosts and the job's allocation."""
        machine, described = self.machine, self.described
        facts = machine_facts(machine, described.node)
        if described.hosts:
            hosts = described.hosts[:: machine.nodes_per_host]
            facts["hosts"] = compress_hostlist(drop_vacant(hosts))
        if vacant := list_vacant_nodes(described.hosts):
            usable = described_allocation(machine, described).allocation
            facts["vacant"] = len(vacant)
            facts["usable_slots"] = usable.slot_count
        if described.allocated:
            given = described_allocation(machine, described)
            facts["allocation"] = compress_hostlist(dict.fromkeys(given.hosts or ()))
            facts["allocated_slots"] = given.allocation.slot_count
        return facts

    def document(self) -> MachineDocument:
        """Return the fields of the ``--json`` output, except the written files."""
        nodes = collect_node_facts(
            self.machine, self.described.node, self.described.hosts
        )
        name = {"name": self.described.name} if self.described.name else {}
        document = name | self.facts() | nodes | read_probe_results(self.source)
        return cast("MachineDocument", document)

    def save(self, path: Path) -> list[str]:
        """Write the description; return notes on data that the format cannot store."""
        described = self.described
        save_machine(
            path,
            self.machine,
            described.hosts,
            described.allocated,
            described.node,
            described.remarks,
            described.switches,
            load_cost_model(self.source),
            described.labels,
            described.name,
        )
        return find_losses(path, self.machine, described.hosts, described.node)


def load_shown_machine(
    source: str,
    node_files: Sequence[str] = (),
    *,
    partial: bool = False,
    speeds: GivenSpeeds | None = None,
    selection: Selection | None = None,
) -> ShownMachine:
    """Load a machine, and replace the descriptions of its nodes by those in files.

    Parameters
    ----------
    source
        The short text, name or file of the machine; or a placement, whose machine is
        shown.
    node_files
        Node descriptions ``[HOSTS=]FILE``, the arguments of `replace_nodes_from_files`.
    partial
        Whether nodes that cannot be located are dropped.
    speeds
        Link speeds, for network files without link speeds.
    selection
        What to read of a file with several networks.

    Raises
    ------
    topoloom.machines.machine_file.IncompleteFileError
        If nodes cannot be located, unless `partial`.
    """
    if find_file_kind(source) == PLACEMENT:
        from topoloom.placements.placement_file import load_placement

        placed = load_placement(source)
        described = MachineDescription(
            placed.machine.text, node=placed.node, switches=placed.switches
        )
        return ShownMachine(source, placed.machine, described)
    machine, described = load_machine_and_description(
        source, partial, speeds, selection
    )
    if node_files:
        described = replace_nodes_from_files(described, node_files)
        described = replace(described, name="")
        machine = Machine(described.text, described.remarks)
    return ShownMachine(source, machine, described)
