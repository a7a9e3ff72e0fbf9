# SPDX-License-Identifier: BSD-3-Clause
"""Reads nodes from Slurm's ``slurm.conf``: cores, GPUs and memory (``NodeName=``).

A slot is a core that jobs can use. The file contains the number of cores, but not the
CPU numbers of Linux. Other lines are skipped; remarks count DownNodes= and include.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.node_groups import NodeGroup, with_node_groups
from topoloom.importers.slurm.scontrol_nodes import NodeShape
from topoloom.importers.slurm.topology_conf import join_continued_lines
from topoloom.importers.switch_tree import HostLists
from topoloom.nodes.node_levels import (
    NodeCores,
    add_hop_weight,
    format_levels,
    format_nodes,
    list_vacant_places,
    make_node_parts,
)
from topoloom.nodes.node_parts import MAX_CPUS, MAX_DEVICES, Device, NodeParts
from topoloom.support.files import prefix_errors
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.units import counted

_SHOWS = re.compile(r"^[ \t]*nodename[ \t]*=", re.IGNORECASE | re.MULTILINE)
_PAIR = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|(\S+))')
#: Such as ``gpu:a100:4(S:0-1)``; model, number and sockets are optional.
_GRES = re.compile(
    r"gpu(?::[^:,()]*[^:,()0-9][^:,()]*)?(?::([0-9]{1,4}))?(?:\(S:([0-9,-]+)\))?"
)
_COUNTS = (
    "cpus",
    "boards",
    "socketsperboard",
    "sockets",
    "corespersocket",
    "threadspercore",
    "realmemory",
)
#: Keys of NodeName lines, from slurm.conf(5).
_KEYS = frozenset(
    (
        *(*_COUNTS, "nodename", "nodehostname", "nodeaddr", "bcastaddr", "gres"),
        *("corespeccount", "cpubind", "cpuspeclist", "feature", "features", "port"),
        *("memspeclimit", "procs", "reason", "state", "tmpdisk", "topology", "weight"),
        *("parameters", "restrictedcorespergpu"),
    )
)
#: Keys that only NodeName lines have.
_ONLY_OF_NODES = frozenset((*_COUNTS, "gres", "corespeccount", "cpuspeclist"))
#: States of nodes that run no jobs.
_UNUSABLE = ("DOWN", "DRAIN", "DRAINED", "FAIL", "FAILING", "FUTURE")


#: Remark on lines ``include FILE``.
_INCLUDED = "{lines} ignored"


class _NodeLine(NamedTuple):
    number: int
    hosts: tuple[str, ...]
    values: dict[str, str]


def read_slurm_nodes(text: str) -> MachineDescription:
    """Read the nodes, which may differ; all nodes are on one switch."""
    hosts: list[str] = []
    insides: list[NodeGroup] = []
    first: dict[str, int] = {}
    remarks = Counter[str]()
    for line in _read_lines(text, remarks):
        for host in line.hosts:
            earlier = first.setdefault(host, line.number)
            if earlier != line.number:
                raise Error(
                    f"line {line.number}: node {host} is also on line {earlier}; "
                    "describe it once"
                )
        try:
            shape = _read_shape(line.values)
            inside = _leave_out_reserved_cores(line.values, shape, remarks, line.hosts)
            parts = _make_parts(line.values, shape, inside)
        except Error as error:
            raise Error(f"line {line.number}: {error}") from None
        _count_ignored_values(line, remarks)
        nodes = range(len(hosts), len(hosts) + len(line.hosts))
        hosts += line.hosts
        insides.append(
            NodeGroup(
                add_hop_weight(format_levels(inside)),
                parts,
                nodes,
                f"line {line.number}",
                vacant=list_vacant_places(inside),
            )
        )
    if not hosts:
        unread = "; give the included file with these lines" * bool(remarks[_INCLUDED])
        raise Error(f"line 1: no NodeName= line names a node{unread}")
    network = MachineDescription(format_nodes(len(hosts), ""), tuple(hosts), network="")
    described = with_node_groups(network, insides)
    sentences = (
        sentence.format(
            nodes=counted(count, "node"), lines=counted(count, "include line")
        )
        for sentence, count in sorted(
            remarks.items(), key=lambda item: (item[0] == _INCLUDED, item[0])
        )
        if count
    )
    return replace(described, remarks=tuple(sentences))


def _leave_out_reserved_cores(
    values: dict[str, str],
    shape: NodeShape,
    remarks: Counter[str],
    hosts: Sequence[str],
) -> NodeCores:
    """Build the cores of a node without those that Slurm reserves for the system."""
    inside = shape.inside()
    if not any(key in values for key in ("cpus", "corespersocket")):
        remarks["assumed: 1 core on {nodes} without CPUs=; slurmd -C prints them"] += (
            len(hosts)
        )
    reserved: Iterable[int] = ()
    if "cpuspeclist" in values:
        with prefix_errors("CpuSpecList"):
            every = shape.core_count * shape.threads
            cpus = expand_ranges(values["cpuspeclist"], every)
        reserved = {cpu // shape.threads for cpu in cpus}
    elif count := _read_number(values, "corespeccount"):
        reserved = itertools.islice(_list_cores_to_reserve(shape), count)
        remarks[
            "assumed: reserved cores (CoreSpecCount) of {nodes} are the last ones of "
            "all sockets in turn, as slurmd chooses"
        ] += len(hosts)
    left = (1 << shape.core_count) - 1
    for core in reserved:
        left &= ~(1 << core)
    if not left:
        raise Error("all cores are reserved for the system; a node needs one for jobs")
    if lost := shape.core_count - left.bit_count():
        what = f"{counted(lost, 'core')} per node reserved for the system"
        remarks[f"{what} on {{nodes}}"] += len(hosts)
    return inside.restrict_to(left)


def _list_cores_to_reserve(shape: NodeShape) -> Iterator[int]:
    """Yield cores in the order in which slurmd reserves them."""
    for core in reversed(range(shape.cores)):
        for socket in reversed(range(shape.sockets)):
            yield socket * shape.cores + core


def _read_number(values: dict[str, str], key: str) -> int:
    text = values.get(key, "0")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise Error(f"{key}={text[:40]} is not a number")
    return int(text)


def _count_ignored_values(line: _NodeLine, remarks: Counter[str]) -> None:
    """Count the nodes whose state or other resources are ignored."""
    state = line.values.get("state", "").partition("*")[0].upper()
    if state in _UNUSABLE:
        remarks[f"{{nodes}} with State={state} taken as usable; use +down:"] += len(
            line.hosts
        )
    for key in line.values.keys() - _KEYS:
        remarks[f"unknown key {key[:20]} of {{nodes}} ignored"] += len(line.hosts)
    items = re.split(r",(?![^()]*\))", line.values.get("gres", ""))
    for item in items:
        if item.strip() and not _GRES.fullmatch(item.strip()):
            name = item.strip().partition(":")[0][:40]
            name = name.replace("{", "").replace("}", "")
            remarks[f"Gres={name} of {{nodes}} ignored: only gpu is read"] += len(
                line.hosts
            )


def _read_lines(text: str, remarks: Counter[str]) -> Iterator[_NodeLine]:
    """Yield the lines of nodes, completed with values of preceding DEFAULT lines."""
    lists, default = HostLists(), dict[str, str]()
    for number, line in join_continued_lines(text):
        pairs = _PAIR.findall(line)
        values = {key.lower(): quoted or plain for key, quoted, plain in pairs}
        is_node = _SHOWS.match(line)
        rest = _PAIR.sub("", line).split()
        if rest and (is_node or not pairs) and rest[0].lower() != "include":
            raise Error(f"line {number}: expected Key=value, not '{rest[0][:20]}'")
        if not is_node:
            remarks[_INCLUDED] += rest[:1] != [] and rest[0].lower() == "include"
            if "downnodes" in values:
                down = lists.expand(number, values["downnodes"])
                remarks["{nodes} of DownNodes= taken as usable; use +down:"] += len(
                    down
                )
            if only := sorted(_ONLY_OF_NODES & values.keys()):
                raise Error(
                    f"line {number}: has {only[0]}=, but does not begin with NodeName="
                )
            continue
        name = values.pop("nodename", "")
        if name.upper() == "DEFAULT":
            default |= values
            continue
        hosts = lists.expand(number, name)
        yield _NodeLine(number, tuple(dict.fromkeys(hosts)), default | values)


def _read_shape(values: dict[str, str]) -> NodeShape:
    count: dict[str, int] = {}
    for key in _COUNTS:
        if key not in values:
            continue
        if not re.fullmatch(r"[0-9]{1,9}", values[key]) or int(values[key]) == 0:
            raise Error(f"{key}={values[key][:40]} is not a number above 0")
        count[key] = int(values[key])
    threads = count.get("threadspercore", 1)
    sockets = count.get("sockets", 0)
    if "socketsperboard" in count:
        sockets = count["socketsperboard"] * count.get("boards", 1)
    if "corespersocket" in count:
        shape = NodeShape(sockets or 1, count["corespersocket"], threads)
    elif "cpus" not in count:
        shape = NodeShape(sockets or 1, 1, threads)  # Slurm's default
    else:
        # If the sockets do not divide the CPUs, sockets are unknown.
        sockets = sockets if count["cpus"] % ((sockets or 1) * threads) == 0 else 1
        cores = max(1, count["cpus"] // ((sockets or 1) * threads))
        shape = NodeShape(sockets or 1, cores, threads)
    if shape.core_count > MAX_CPUS:
        raise Error(f"{shape.core_count} cores exceed the maximum per node")
    return shape


def _make_parts(
    values: dict[str, str], shape: NodeShape, inside: NodeCores
) -> NodeParts:
    known = make_node_parts(inside)
    memory = int(values.get("realmemory", "0"))
    # MemSpecLimit is memory of the system, which jobs cannot use.
    memory = max(0, memory - _read_number(values, "memspeclimit")) * 1024**2
    cores = [core.bit_length() - 1 for core in inside.cores]
    devices = tuple(_list_gpus(values.get("gres", ""), shape, cores))
    return NodeParts(known.names, (), devices, memory, shared=known.shared)


def _list_gpus(gres: str, shape: NodeShape, cores: Sequence[int]) -> Iterator[Device]:
    """Yield the GPUs; a GPU with ``(S:1)`` is near the cores of socket 1."""
    number = 0
    for item in re.split(r",(?![^()]*\))", gres):
        match = _GRES.fullmatch(item.strip())
        if match is None:
            continue
        slots = tuple(range(len(cores)))
        if match[2]:
            with prefix_errors("Gres"):
                sockets = expand_ranges(match[2], MAX_CPUS)
            near = tuple(s for s in slots if cores[s] // shape.cores in sockets)
            slots = near or slots
        for _ in range(int(match[1] or 1)):
            if number == MAX_DEVICES:
                raise Error(f"Gres={gres[:40]} are over {MAX_DEVICES} GPUs")
            yield Device(f"gpu{number}", "gpu", slots)
            number += 1
