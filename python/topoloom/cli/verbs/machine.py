# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine`: show a machine, or write its description."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, Figure, Partial, output_option
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topoloom._core import Machine
    from topoloom.nodes.node_parts import Device, NodeParts, NodeType
    from topoloom.tasks.machines.shown_machine import ShownMachine

#: Labels of a node's message costs, by TOML key.
_SPEEDS = {
    "port": {
        "bandwidth": "{} each way",
        "startup": "{} to start a message",
        "latency": "{} more to arrive",
    },
    "inside a node": {
        "memory": "messages read {}",
        "memory_startup": "{} to start one",
    },
}


def command(
    words: Annotated[
        list[str],
        Argument(
            metavar="[show] MACHINE",
            help="torus:8x8x8, mesh:4x4, tree:4:8:2, graph:..., a file, a name from "
            "'topoloom list machines', or 'detect'.",
            autocompletion=completions.machines,
        ),
    ],
    output: Annotated[
        Path | None,
        output_option(
            "Write a description to edit (.toml), or a file for Scotch (.tgt), SimGrid "
            "(.xml) or METIS (.graph)."
        ),
    ] = None,
    figure: Figure = None,
    node: Annotated[
        list[str] | None,
        Option(
            "--node",
            metavar="[HOSTS=]FILE",
            help="Internal structure of nodes: hwloc XML, a machine file, or "
            "+node:8:2. May be repeated for different hosts.",
        ),
    ] = None,
    partial: Partial = False,
    network: Annotated[
        str | None,
        Option(
            "--network",
            metavar="RATE",
            help="Total bandwidth of a node's NICs in each direction, if a file has "
            "only switches: 400Gbit/s, 200GB/s.",
        ),
    ] = None,
    nvlink: Annotated[
        str | None,
        Option(
            "--nvlink",
            metavar="RATE",
            help="NVLink bandwidth per GPU in each direction, for nodes of Kubernetes.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a machine, draw it, or write its description.

    \b
    A machine is a short text:
      torus:8x8x8                         512 nodes, rings in three dimensions
      torus:8x8x8,wrap=110                the last axis is open
      torus:17x8x24,nodes=2               two nodes per router
      torus:8x8,bandwidth=9.4GB/s,bandwidth.y=half,latency=1.3us
      mesh:4x4x4                          no wrap-around links
      tree:4:8:2,distance=1:10:100        bottom-up: 4 in a group, 8 groups, 2
      graph:4+1:0-4,1-4,2-4,3-4           four nodes on one switch
      torus:8x8x8+node:16:2,distance=1:2  nodes of 2 sockets with 16 slots each
    For more kinds, see 'topoloom list topologies'. A TOML file, which -o writes,
    describes the same with names and units.
    'detect' is the node that runs this command, or the machine of your batch job.
    Files of Slurm, ibnetdiscover, hwloc, NCCL, Scotch, SimGrid, Cray systems, Tofu,
    Amazon, Google, Oracle and Kubernetes are recognized by content, METIS graphs by
    the suffix .graph: see 'topoloom list formats'.

    \b
    Examples:
      topoloom machine show frontier --figure frontier.png
      topoloom machine torus:8x8x8            'show' may be left out
      topoloom machine torus:8x8x8 -o m.toml && topoloom machine m.toml
      topoloom machine detect -o here.toml
      topoloom machine topology.conf -o cluster.tgt
      topoloom machine topology.conf --node node.xml -o cluster.toml
      topoloom machine topology.conf --node 'gpu[1-4]=gpu.xml' --node cpu.xml
      topoloom machine nodes.json --partial --network 1600Gbit/s -o cluster.toml
    """
    from topoloom.cli.console import note, print_json

    shown = _load_machine(_parse_source(words), node or [], partial, network, nvlink)
    if output is not None:
        for line in shown.save(output):
            note(f"topoloom: {line}")
    if figure is not None:
        from topoloom.figure import draw_machine

        draw_machine(figure, shown.machine, shown.described.hosts)
    if as_json:
        written = {"output": output and str(output), "figure": figure and str(figure)}
        print_json({**shown.document(), **written})
    else:
        _print_result(shown, output, figure)


def _load_machine(
    source: str,
    node_files: list[str],
    partial: bool,
    network: str | None,
    nvlink: str | None,
) -> ShownMachine:
    """Load the machine, and print remarks about omitted parts."""
    from topoloom._core import Error
    from topoloom.cli.console import note
    from topoloom.importers.machine_description import GivenSpeeds
    from topoloom.machines.machine_file import IncompleteFileError
    from topoloom.support.units import counted, parse_bandwidth
    from topoloom.tasks.machines.shown_machine import load_shown_machine

    speeds = GivenSpeeds(
        None if network is None else parse_bandwidth(network),
        None if nvlink is None else parse_bandwidth(nvlink),
    )
    try:
        shown = load_shown_machine(source, node_files, partial=partial, speeds=speeds)
    except IncompleteFileError as error:
        for line in error.lines:
            note(f"topoloom: {line}")
        count = counted(len(error.lines), "node")
        raise Error(
            f"{source}: {count} cannot be located; --partial uses the others"
        ) from None
    for line in shown.described.missing:
        note(f"topoloom: left out: {line}")
    return shown


def _print_result(
    shown: ShownMachine, output: Path | None, figure: Path | None
) -> None:
    from topoloom.cli.console import print_facts
    from topoloom.cli.probed_output import print_probed
    from topoloom.machines.machine_facts import machine_name
    from topoloom.machines.outline import outline
    from topoloom.machines.separate_parts import describe_parts, separate_parts
    from topoloom.tasks.machines.probe import read_probe_results

    machine, node, hosts = shown.machine, shown.described.node, shown.described.hosts
    facts = shown.facts()
    if facts.pop("parts", None):
        facts["cut_apart"] = describe_parts(machine, separate_parts(machine))
    rows = [
        *_list_rows(facts, machine.has_bandwidths),
        *_list_node_rows(machine, node, hosts),
    ]
    if output is not None:
        rows.append(("written", str(output)))
    if figure is not None:
        rows.append(("written", str(figure)))
    print_facts(rows, machine_name(machine, node))
    print("\n".join(["", *outline(machine, node, hosts)]))
    if probed := read_probe_results(shown.source):
        print_probed(probed)


def _parse_source(words: list[str]) -> str:
    """Return MACHINE, given the arguments ``show MACHINE`` or ``MACHINE``."""
    from topoloom._core import Error

    if len(words) == 2 and words[0] == "show":
        return words[1]
    if len(words) > 1:
        raise Error(f"expected one machine, but found: {', '.join(words)}")
    if words == ["show"] and not Path("show").exists():
        raise Error(
            "no machine is given; name one, such as from 'topoloom list machines'"
        )
    return words[0]


def _list_rows(facts: dict[str, Any], has_bandwidths: bool) -> list[tuple[str, str]]:
    texts = {**facts, "bandwidths": "", "bisection": ""}
    if isinstance(facts["slots_per_node"], list):
        texts["slots_per_node"] = " or ".join(map(str, facts["slots_per_node"]))
    texts["nodes"] = f"{facts['nodes']:,}"
    if vacant := texts.pop("vacant", 0):
        texts["nodes"] = f"{facts['nodes']:,}, {vacant:,} of them vacant"
        usable = texts.pop("usable_slots")
        texts["slots"] = f"{facts['slots']:,}, {usable:,} of them for jobs"
    if down := texts.pop("nodes_down", 0):
        texts["nodes"] = f"{texts['nodes']}, {down:,} down"
    if has_bandwidths or len(facts["bandwidths"]) > 1:
        texts["bandwidths"] = _format_bandwidths(facts["bandwidths"], has_bandwidths)
    if facts["bisection"]["links"]:
        texts["bisection"] = _format_bisection(facts["bisection"], has_bandwidths)
    if facts["machine"].startswith("rails:"):
        distance = _format_cell(facts["average_distance"])
        texts["average_distance"] = f"{distance}, links weighed by their bandwidth"
    unshortened = {"cut_apart"}
    return [
        (name.replace("_", " "), value if name in unshortened else _format_cell(value))
        for name, value in texts.items()
        if value not in (None, [], "")
    ]


def _format_bandwidths(bandwidths: list[dict[str, Any]], have_units: bool) -> str:
    from topoloom.support.units import counted, format_bandwidth

    most = 4
    texts = []
    for each in bandwidths[:most]:
        if have_units:
            told = format_bandwidth(each["bytes_per_second"])
        else:
            told = f"{each['relative']:g} (relative)"
        texts.append(f"{counted(int(each['links']), 'link')} of {told}")
    if len(bandwidths) > most:
        rest = int(sum(each["links"] for each in bandwidths[most:]))
        texts.append(f"{counted(rest, 'link')} more")
    return ", ".join(texts)


def _format_bisection(bisection: dict[str, Any], in_bytes: bool) -> str:
    """Format the smallest known bisection; add a lower bound if it may be smaller."""
    from topoloom.support.units import counted, format_bandwidth

    least, links = bisection["at_least"], counted(int(bisection["links"]), "link")
    if in_bytes:
        found = f"{format_bandwidth(bisection['at_most'])} over {links}"
        proven = format_bandwidth(least)
    else:
        found, proven = links, f"{math.ceil(least - 1e-6):,}"
    if bisection["exact"]:
        return found
    return f"at most {found}" + (f", at least {proven}" if least else "")


def _format_cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        sign = ", " if value and isinstance(value[0], bool) else " x "
        return sign.join(_format_cell(item) for item in value)
    text = str(value)
    return text if len(text) <= 100 else text[:97] + "..."


def _list_node_rows(
    machine: Machine, node: NodeParts, hosts: Sequence[str]
) -> list[tuple[str, str]]:
    """Return table rows: level costs, the port, and one row per device or node type."""
    from topoloom.machines.node_toml import level_costs, write_nic
    from topoloom.machines.outline import format_type_nodes
    from topoloom.nodes.node_parts import ETHERNET, NIC
    from topoloom.support.units import format_bytes

    rows = []
    if node.names:
        named = level_costs(machine, node.names).items()
        rows.append(("costs", ", ".join(f"{name} {cost}" for name, cost in named)))
    port = write_nic(machine)
    if (costs := port.get("port")) and not node.types:
        run = machine.slots_per_node // len(costs)
        ways = (
            f"{cost} for {_format_slot_range(i, run)}" for i, cost in enumerate(costs)
        )
        rows.append(("port costs", ", ".join(ways)))
    for title, speeds in _SPEEDS.items():
        texts = [text.format(port[key]) for key, text in speeds.items() if key in port]
        if texts:
            rows.append((title, ", ".join(texts)))
    if node.memory_size:
        rows.append(("memory per node", format_bytes(node.memory_size)))
    rows += [
        (f"{part.kind} {part.name}", _format_location(part)) for part in node.devices
    ]
    if any(part.kind == ETHERNET for part in node.devices):
        used = [part.name for part in node.devices if part.kind == NIC]
        rows.append(("MPI uses", f"{', '.join(used)}, not the Ethernet cards"))
    rows += [
        (format_type_nodes(kind, hosts), _format_type(kind)) for kind in node.types
    ]
    rows += [("remark", remark) for remark in machine.remarks]
    return rows


def _format_type(kind: NodeType) -> str:
    from topoloom.machines.outline import format_type_slots
    from topoloom.support.units import format_bytes

    parts = kind.parts
    words = [format_type_slots(kind)]
    if parts.names:
        words.append(f"sharing {', '.join(reversed(parts.names))}")
    if parts.memory_size:
        words.append(format_bytes(parts.memory_size))
    words += [part.name for part in parts.devices]
    return "; ".join(words)


def _format_slot_range(number: int, slots: int) -> str:
    first, last = number * slots, (number + 1) * slots - 1
    return f"slot {first}" if first == last else f"slots {first}-{last}"


def _format_location(device: Device) -> str:
    from topoloom.support.number_ranges import compress_ranges

    words = [f"slots {compress_ranges(device.slots)}"]
    if device.numa is not None:
        words.append(f"NUMA domain {device.numa}")
    if device.pci:
        words.append(f"PCI {device.pci}")
    return "; ".join(words)
