# SPDX-License-Identifier: BSD-3-Clause
"""Placements of ranks of one or several cores, and what launchers must make of them."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hybrid.bound_hosts import Node, ReportedRank, make_node

from topoloom import Allocation, Machine, Placement, PlacementFile, save_placement
from topoloom.nodes.node_parts import Levels, NodeParts, NodeType

#: Hosts of equal and of unequal nodes, by the name of their machine.
MACHINES: dict[str, tuple[Node, ...]] = {
    "one_package": (make_node(1, 4, 1, "core"),) * 3,
    "one_package_smt": (make_node(1, 4, 2, "rounds"),) * 3,
    "packages": (make_node(2, 4, 1, "core"),) * 3,
    "dealt": (make_node(2, 4, 1, "dealt"),) * 3,
    "smt_by_core": (make_node(2, 4, 2, "core"),) * 3,
    "smt_in_rounds": (make_node(2, 4, 2, "rounds"),) * 3,
    "smt_dealt": (make_node(2, 4, 2, "dealt"),) * 3,
    "fewer_cores": (
        make_node(2, 4, 1, "core"),
        make_node(2, 2, 1, "core"),
        make_node(2, 4, 1, "core"),
    ),
    "some_smt": (
        make_node(2, 4, 2, "rounds"),
        make_node(2, 4, 1, "core"),
        make_node(2, 2, 2, "core"),
    ),
}
#: In rank order from the first slot on; with gaps; in any order; on shared slots.
ORDERS = ("filled", "gaps", "any", "shared")
#: What the machine says about CPUs, and the option --bind.
KNOWN = (("cpus", None), ("cpus", "core"), ("cpus", "pu"), ("levels", None))


@dataclass(frozen=True)
class Case:
    """A placement on a machine with three hosts.

    Attributes
    ----------
    machine
        One of `MACHINES`.
    places
        Host and first local slot of each rank.
    cores
        Cores per rank.
    knows_cpus
        Whether the machine names the CPUs of its slots.
    bind
        The option ``--bind``.
    """

    machine: str
    places: tuple[tuple[int, int], ...]
    cores: int
    knows_cpus: bool
    bind: str | None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the hosts."""
        return MACHINES[self.machine]

    def list_cores(self, rank: int) -> list[tuple[int, ...]]:
        """List the CPUs of each core of a rank."""
        host, slot = self.places[rank]
        return list(self.nodes[host].cpus[slot : slot + self.cores])

    def list_cpus(self, rank: int) -> list[int]:
        """List the CPUs to which a rank is to be bound."""
        cores = self.list_cores(rank)
        if self.bind == "pu":
            return [cores[0][0]]
        return sorted(cpu for core in cores for cpu in core)

    def shares_cores(self) -> bool:
        """Return whether ranks share slots."""
        return len(set(self.places)) < len(self.places)

    def save(self, path: Path, hosts: Sequence[str]) -> None:
        """Save the placement for `topoloom export`."""
        most = max(self.nodes, key=lambda node: len(node.cpus))
        machine = Machine(f"mesh:3+node:{most.cores}:{most.packages},distance=1:10")
        types = tuple(
            _make_node_type(index, node, most.cores, self.knows_cpus)
            for index, node in enumerate(self.nodes)
        )
        node = types[0].parts
        if len(set(self.nodes)) > 1:
            node = NodeParts(types=types)
        per_node = len(most.cpus)
        slots = [
            host * per_node + types[host].slots[local] for host, local in self.places
        ]
        every = [
            host * per_node + slot for host in range(3) for slot in types[host].slots
        ]
        allocation = Allocation(machine, np.arange(3), np.array(every))
        placement = Placement(
            allocation, np.array(slots, dtype=np.uint32), self.shares_cores()
        )
        file = PlacementFile(
            machine,
            allocation,
            placement,
            tuple(hosts),
            node,
            cores_per_rank=self.cores,
        )
        save_placement(path, file)


def _make_node_type(index: int, node: Node, cores: int, knows_cpus: bool) -> NodeType:
    names = ("package", "node")
    parts = NodeParts(names, node.cpus if knows_cpus else ())
    slots = [
        package * cores + core
        for package in range(node.packages)
        for core in range(node.cores)
    ]
    levels = Levels((node.cores, node.packages), (1, 10))
    return NodeType((index,), levels, tuple(slots), parts)


def draw_cases(
    count: int, seed: int = 0, machines: Collection[str] = tuple(MACHINES)
) -> list[Case]:
    """Draw different cases of all machines, orders, cores and binding options."""
    draw, cases = random.Random(seed), dict[Case, None]()
    kinds = [kind for kind in _list_kinds() if kind[0] in machines]
    draw.shuffle(kinds)
    for machine, order, cores, (known, bind) in kinds:
        places = _draw_places(MACHINES[machine], order, cores, draw)
        cases[Case(machine, places, cores, known == "cpus", bind)] = None
    return list(cases)[:count]


def _list_kinds() -> list[tuple[str, str, int, tuple[str, str | None]]]:
    return [
        (machine, order, cores, known)
        for machine in MACHINES
        for order in ORDERS
        for cores in (1, 2, 3)
        for known in KNOWN
        if not (cores > 1 and known[1] == "pu")
    ]


def _draw_places(
    nodes: tuple[Node, ...], order: str, cores: int, draw: random.Random
) -> tuple[tuple[int, int], ...]:
    firsts = [list(range(0, len(node.cpus) - cores + 1, cores)) for node in nodes]
    if order in ("filled", "shared"):
        used = [first[: draw.randint(1, len(first))] for first in firsts]
        if order == "shared":
            used = [[slot for slot in of_host for _ in range(2)] for of_host in used]
    else:
        used = [
            sorted(draw.sample(first, draw.randint(1, len(first)))) for first in firsts
        ]
    hosts = [0, 1, 2]
    draw.shuffle(hosts)
    places = [(host, slot) for host in hosts for slot in used[host]]
    if order == "any":
        draw.shuffle(places)
    return tuple(places)


def find_errors(
    case: Case, hosts: Sequence[str], ranks: Sequence[ReportedRank], is_kept: bool
) -> Iterator[str]:
    """Compare the reports of ranks with their placement.

    `is_kept` says whether the export promises the cores of each rank, not only its
    host.
    """
    for rank, report in enumerate(ranks):
        host = hosts[case.places[rank][0]]
        if report.host != host:
            yield f"rank {rank} is on {report.host}, not on {host}"
            continue
        every = sorted(
            cpu for core in case.nodes[hosts.index(host)].cpus for cpu in core
        )
        got = sorted(report.cpus) or every
        threads = str(case.cores) if case.cores > 1 else "-"
        if report.threads != threads:
            yield f"rank {rank} has {report.threads} threads, not {threads}"
        if is_kept and not _has_its_cores(case, rank, got, every):
            yield f"rank {rank} is bound to {got}, not to {case.list_cpus(rank)}"
        if not is_kept and not _has_enough_cores(case, rank, got):
            yield f"rank {rank} has too few cores: {got}"
        if report.places != "-" and not _is_alone(case, rank, got, hosts, ranks):
            yield f"rank {rank} pins threads, but shares its cores: {got}"


def _has_its_cores(
    case: Case, rank: int, got: Sequence[int], every: Sequence[int]
) -> bool:
    """Return whether a rank has its cores.

    A rank of one core may be unbound. One hardware thread of each core is enough where
    their number is unknown, or differs.
    """
    wanted = case.list_cpus(rank)
    if list(got) == wanted:
        return True
    if case.cores == 1 and case.bind is None:
        return set(wanted) <= set(got)
    if case.shares_cores() and list(got) == list(every):
        return True  # Open MPI 5 does not bind ranks that share cores
    counts = {len(case.list_cpus(rank)) for rank in range(len(case.places))}
    if case.knows_cpus and len(counts) == 1:
        return False
    cores = case.list_cores(rank)
    return set(got) <= set(wanted) and all(set(core) & set(got) for core in cores)


def _has_enough_cores(case: Case, rank: int, got: Sequence[int]) -> bool:
    cores = case.nodes[case.places[rank][0]].cpus
    return sum(bool(set(core) & set(got)) for core in cores) >= case.cores


def _is_alone(
    case: Case,
    rank: int,
    got: Sequence[int],
    hosts: Sequence[str],
    ranks: Sequence[ReportedRank],
) -> bool:
    return all(
        other == rank
        or report.host != ranks[rank].host
        or (report.cpus and not set(report.cpus) & set(got))
        for other, report in enumerate(ranks)
    )
