# SPDX-License-Identifier: BSD-3-Clause
"""Slurm: ``srun --distribution=cyclic:block -N 4 --ntasks-per-node=8 -c 4``.

The first level distributes ranks over nodes, the second over the packages of a node,
which takes effect with Slurm's ``task/affinity``. The third level distributes the
hardware threads of cores, which have no slots of their own. Without a second level,
ranks use the cores of a node in order. A CPU of ``-c`` is a core. With
``--cpu-bind=map_cpu:LIST``, the cores of a rank begin at the one with its CPU.

Source: slurm_step_layout.c and task/affinity's dist_tasks.c of Slurm 22.05.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from topoloom.launch.launchers.srun import SYNTAX
from topoloom.launch.orders.launch_options import (
    LaunchOptions,
    LaunchOrderRules,
    read_count,
    read_options,
)
from topoloom.launch.orders.node_cores import (
    PACKAGE,
    LaunchError,
    NodeCores,
    RankCores,
    check_room,
)
from topoloom.launch.rank_blocks import Rows, count_ranks_in_turn, deal_blocks
from topoloom.support.plain_text import is_number
from topoloom.support.units import counted

BLOCK, CYCLIC, FULLY_CYCLIC, PLANE = "block", "cyclic", "fcyclic", "plane"
_DISTRIBUTION = ("m", "distribution")
#: Options that place ranks in ways that are not supported.
_REFUSED = frozenset(
    {"B", "S", "X", "Z", "core-spec", "cores-per-socket", "exclude", "extra-node-info"}
    | {"gpus-per-task", "multi-prog", "nodelist", "ntasks-per-core", "r", "relative"}
    | {"ntasks-per-gpu", "overcommit", "O", "sockets-per-node"}
    | {"thread-spec", "tres-bind", "w", "x"}
)
_FLAGS = ("pack", "nopack")
MAP_CPU = "map_cpu:"
MAX_CPUS = 16_384  # more than on any node
_IN_ORDER = (
    "ranks use the cores of a node in order; if Slurm binds them (task/affinity), "
    "write the second level, as in -m block:cyclic"
)
_BINDINGS = ("none", "no", "cores", "threads", "sockets", "ldoms", "verbose", "quiet")


class SlurmDistribution(NamedTuple):
    """A distribution over nodes, and over packages if not None."""

    nodes: str = BLOCK
    packages: str | None = None
    plane_size: int = 0
    is_packed: bool = False


class SlurmOrder(NamedTuple):
    """The options of srun that place ranks."""

    distribution: SlurmDistribution
    node_count: int | None
    ranks_per_node: int | None
    cores_per_rank: int
    has_exact_cores: bool = False  # the step has only the cores of its ranks
    cpus: tuple[int, ...] = ()  # of the ranks of a node in turn, if mapped

    def place(self, nodes: Sequence[NodeCores], ranks: int) -> list[RankCores]:
        """Return the node and the cores of each rank."""
        if self.node_count is not None and self.node_count > len(nodes):
            raise LaunchError(
                f"needs {counted(self.node_count, 'node')} for -N, but the job has "
                f"{counted(len(nodes), 'node')}"
            )
        nodes = nodes[: self.node_count]
        room = [len(node.cores) // self.cores_per_rank for node in nodes]
        if self.ranks_per_node is not None:
            room = [min(most, self.ranks_per_node) for most in room]
        check_room(ranks, room)
        rows = self._distribute(room, ranks)
        placed: dict[int, RankCores] = {}
        for number, (node, row) in enumerate(zip(nodes, rows, strict=True)):
            cores = self._place_in_node(node, len(row))
            for rank, own in zip(row, cores, strict=True):
                placed[rank] = RankCores(number, own)
        return [placed[rank] for rank in range(ranks)]

    def _distribute(self, room: Sequence[int], ranks: int) -> Rows:
        """Return the ranks of each node."""
        name = self.distribution.nodes
        if name == CYCLIC:
            return deal_blocks(count_ranks_in_turn(room, ranks, 1), 1)
        if name == PLANE:
            size = self.distribution.plane_size
            return deal_blocks(count_ranks_in_turn(room, ranks, size), size)
        counts = count_ranks_in_turn(room, ranks)
        if self.distribution.is_packed:
            counts = pack(room, ranks, self.node_count or 1)
        return deal_blocks(counts, ranks)

    def _place_in_node(self, node: NodeCores, ranks: int) -> list[tuple[int, ...]]:
        each, packages = self.cores_per_rank, self.distribution.packages
        if self.cpus:
            return self._place_on_cpus(node, ranks)
        if packages in (None, BLOCK):
            cores = node.cores
            if packages is not None:
                node.split(PACKAGE)
            elif self.has_exact_cores and PACKAGE in node.sizes:
                cores = _select_cores(tuple(node.split(PACKAGE)), ranks, each)
            return [cores[i * each : (i + 1) * each] for i in range(ranks)]
        parts = tuple(node.split(PACKAGE))
        return _cycle_over_packages(parts, ranks, each, packages == FULLY_CYCLIC)

    def _place_on_cpus(self, node: NodeCores, ranks: int) -> list[tuple[int, ...]]:
        """Return the cores of each rank, which begin at the one with its CPU."""
        firsts = [
            node.find_position(self.cpus[i % len(self.cpus)]) for i in range(ranks)
        ]
        found = [node.cores[at : at + self.cores_per_rank] for at in firsts]
        if any(len(cores) < self.cores_per_rank for cores in found):
            raise LaunchError(
                f"gives ranks {self.cores_per_rank} cores, of which a node lacks some "
                "after a CPU of map_cpu"
            )
        return found


def _select_cores(
    packages: tuple[tuple[int, ...], ...], ranks: int, each: int
) -> tuple[int, ...]:
    """Select the cores of a step, which Slurm takes from packages in turn."""
    dealt = _cycle_over_packages(packages, ranks, each, by_core=False)
    return tuple(sorted(core for cores in dealt for core in cores))


def pack(room: Sequence[int], ranks: int, least: int = 1) -> list[int]:
    """Count the ranks of the fewest nodes, at least `least`: one each, then fill nodes.

    >>> pack([4, 4, 4, 4], 7)
    [4, 3, 0, 0]
    """
    used = least
    while sum(room[:used]) < ranks:
        used += 1
    counts = [1] * used + [0] * (len(room) - used)
    counts[ranks:] = [0] * len(counts[ranks:])
    left = ranks - sum(counts)
    for node in range(used):
        more = min(left, room[node] - 1)
        counts[node] += more
        left -= more
    return counts


@lru_cache(maxsize=64)
def _cycle_over_packages(
    packages: tuple[tuple[int, ...], ...], ranks: int, each: int, by_core: bool
) -> list[tuple[int, ...]]:
    """Deal ranks, or with `by_core` their cores, to packages in turn."""
    left = [list(package) for package in packages]
    at, found = 0, []
    for _ in range(ranks):
        own: list[int] = []
        while len(own) < each:
            while not left[at]:
                at = (at + 1) % len(left)
            own.append(left[at].pop(0))
            if by_core:
                at = (at + 1) % len(left)
        if not by_core:
            at = (at + 1) % len(left)
        found.append(tuple(own))
    return found


def read_order(words: Sequence[str]) -> LaunchOrderRules:
    """Read the options of an srun command."""
    read = read_options(words, SYNTAX, _REFUSED)
    if limit := read.find("ntasks-per-socket"):
        raise LaunchError(
            f"'{limit.text}' limits the ranks of packages, which is not supported; "
            "write --ntasks-per-node, and -m block:cyclic to deal them to packages"
        )
    given = read.find(*_DISTRIBUTION)
    distribution = SlurmDistribution()
    if given is not None:
        distribution = _read_distribution(given.values[0], given.text)
    is_unbound = _reads_unbound(read)
    if is_unbound:
        # Ranks without a binding count as on the first free cores.
        distribution = distribution._replace(packages=None)
    cores = read.find_count("c", "cpus-per-task")
    order = SlurmOrder(
        distribution,
        read.find_count("N", "nodes"),
        read.find_count("ntasks-per-node"),
        cores or 1,
        distribution.nodes == PLANE and (cores is not None or bool(read.find("exact"))),
        _read_mapped_cpus(read),
    )
    is_in_order = order.distribution.packages is None and not order.cpus
    return LaunchOrderRules(
        read.ranks,
        order.cores_per_rank,
        order.place,
        assumption="" if not is_in_order or is_unbound else _IN_ORDER,
    )


def _read_distribution(text: str, option: str) -> SlurmDistribution:
    """Read ``block:cyclic:fcyclic,Pack``, ``plane=4``, or one of the flags alone."""
    name, _, rest = text.lower().partition("=")
    if name == PLANE:
        if ":" in rest:
            raise LaunchError(
                f"'{option}': a second level after plane=N is not supported"
            )
        if not is_number(rest) or int(rest) == 0:
            raise LaunchError(f"'{option}': plane needs its size, as in plane=4")
        return SlurmDistribution(PLANE, None, int(rest))
    levels, _, flag = text.lower().partition(",")
    if levels in _FLAGS and not flag:
        levels, flag = "", levels
    nodes, *inside = levels.split(":") if levels else [BLOCK]
    if nodes in ("arbitrary", "hostfile"):
        raise LaunchError(
            f"'{option}' reads the placement from SLURM_HOSTFILE; judge it with "
            "'topoloom judge GRAPH FILE', or pass it to --placement"
        )
    known = [nodes in (BLOCK, CYCLIC, "*"), len(inside) <= 2, flag in ("", *_FLAGS)]
    known += [level in (BLOCK, CYCLIC, FULLY_CYCLIC, "*") for level in inside]
    if not all(known):
        raise LaunchError(
            f"'{option}': expected block or cyclic for nodes, then block, cyclic or "
            "fcyclic for packages and for cores, then Pack or NoPack, as in "
            "cyclic:block:block,NoPack; or plane=N"
        )
    packages = inside[0].replace("*", CYCLIC) if inside else None
    return SlurmDistribution(nodes.replace("*", BLOCK), packages, 0, flag == "pack")


def _reads_unbound(read: LaunchOptions) -> bool:
    """Whether ranks are not bound; refuses bindings that place ranks, and threads."""
    bind = read.find("cpu-bind")
    names = set(bind.values[0].lower().split(",")) if bind else set()
    is_mapped = bind is not None and bool(_read_mapped_cpus(read))
    if bind and not is_mapped and not names <= set(_BINDINGS):
        raise LaunchError(
            f"'{bind.text}' is not supported; allowed are {', '.join(_BINDINGS)}, and "
            "map_cpu:CPU,... with the first CPU of each rank"
        )
    threads = read.find("threads-per-core")
    if threads and threads.values[0] != "1":
        raise LaunchError(f"'{threads.text}': slots are cores; only 1 is supported")
    return bool(names & {"none", "no"})


def _read_mapped_cpus(read: LaunchOptions) -> tuple[int, ...]:
    """Return the CPUs of ``--cpu-bind=map_cpu:0,4*2``; () without such a list.

    Slurm uses the list again from its start for more ranks of a node.
    """
    bind = read.find("cpu-bind")
    words = bind.values[0].lower().removeprefix("verbose,") if bind else ""
    if bind is None or not words.startswith(MAP_CPU):
        return ()
    cpus: list[int] = []
    for entry in words.removeprefix(MAP_CPU).split(","):
        cpu, star, times = entry.partition("*")
        if not is_number(cpu) or not 0 <= int(cpu) < MAX_CPUS:
            raise LaunchError(f"'{bind.text}': '{entry}' is no CPU; write numbers")
        cpus += [int(cpu)] * (read_count(times, bind.text) if star else 1)
        if len(cpus) > MAX_CPUS:
            raise LaunchError(f"'{bind.text}' lists more than {MAX_CPUS:,} CPUs")
    return tuple(cpus)
