# SPDX-License-Identifier: BSD-3-Clause
"""IBM's jsrun: ``jsrun -n 12 -a 4 -c 4 -r 6 -d packed``, from its documentation.

A resource set has ``-c`` cores for ``-a`` ranks. Hosts get ``-r`` resource sets each,
or as many as fit, and their cores in order. With ``-c ALL_CPUS``, a host is one
resource set. ``-d`` deals the ranks to resource sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoloom.launch.command_line import LauncherSyntax, split_names
from topoloom.launch.orders.launch_options import (
    LaunchOptions,
    LaunchOrderRules,
    read_count,
    read_options,
)
from topoloom.launch.orders.node_cores import (
    LaunchError,
    NodeCores,
    RankCores,
    check_room,
)
from topoloom.launch.rank_blocks import deal_blocks

SYNTAX = LauncherSyntax(
    values=dict.fromkeys(
        split_names(
            "n nrs a tasks_per_rs c cpu_per_rs g gpu_per_rs r rs_per_host l "
            "latency_priority d launch_distribution b bind p np K rs_per_socket m "
            "memory_per_rs E env M smpiargs o stdio_stdout k stdio_stderr h chdir "
            "U erf_input H"
        ),
        1,
    ),
    flags=frozenset(split_names("F immediate P pre_post_exec")),
    ranks=frozenset({"p", "np"}),
    joins_short_options=True,
)
#: The value of ``-c`` for one resource set per host, with all its cores.
ALL_CPUS = "ALL_CPUS"
_REFUSED = frozenset({"K", "rs_per_socket", "U", "erf_input", "H"})


class JsrunOrder(NamedTuple):
    """The options of jsrun that place ranks; `block` is of ``-d``."""

    sets: int | None
    ranks_per_set: int
    cores_per_set: int | None  # None for all cores of a host
    sets_per_host: int | None
    block: int | None
    cores_per_rank: int

    def place(self, nodes: Sequence[NodeCores], ranks: int) -> list[RankCores]:
        """Return the node and the cores of each rank."""
        sets = self.sets or -(-ranks // self.ranks_per_set)
        each = self.cores_per_set or min(len(node.cores) for node in nodes)
        if self.ranks_per_set * self.cores_per_rank > each:
            raise LaunchError(
                f"puts {self.ranks_per_set} ranks of {self.cores_per_rank} cores in a "
                f"resource set of {each}"
            )
        room = [len(node.cores) // each for node in nodes]
        if self.cores_per_set is None:
            room = [1] * len(nodes)
        if self.sets_per_host is not None:
            room = [min(most, self.sets_per_host) for most in room]
        check_room(sets, room, "resource set")
        check_room(ranks, [self.ranks_per_set] * sets)
        owners = [(node, i) for node, most in enumerate(room) for i in range(most)]
        counts = [
            min(self.ranks_per_set, max(0, ranks - i * self.ranks_per_set))
            for i in range(sets)
        ]
        placed: dict[int, RankCores] = {}
        rows = deal_blocks(counts, self.block or ranks)
        for (node, number), row in zip(owners, rows, strict=False):
            for i, rank in enumerate(row):
                first = number * each + i * self.cores_per_rank
                cores = nodes[node].cores[first : first + self.cores_per_rank]
                placed[rank] = RankCores(node, cores)
        return [placed[rank] for rank in range(ranks)]


def read_order(words: Sequence[str]) -> LaunchOrderRules:
    """Read the options of a jsrun command."""
    read = read_options(words, SYNTAX, _REFUSED)
    each = read.find_count("a", "tasks_per_rs") or 1
    cores = _read_cores(read, default=each)
    if cores is not None and cores < each:
        raise LaunchError(f"gives {each} ranks {cores} cores; -c must be at least -a")
    block: int | None = None
    if option := read.find("d", "launch_distribution"):
        block = _read_distribution(option.values[0], option.text)
    per_rank = 1
    if option := read.find("b", "bind"):
        name, _, count = option.values[0].partition(":")
        if name not in ("packed", "rs", "none"):
            raise LaunchError(f"'{option.text}': expected packed:N, rs or none")
        per_rank = read_count(count, option.text) if count else 1
        if cores is not None and per_rank * each > cores:
            raise LaunchError(
                f"'{option.text}' binds {per_rank * each} cores, but a resource set "
                f"has {cores}; raise -c"
            )
    sets = read.find_count("n", "nrs")
    order = JsrunOrder(
        sets, each, cores, read.find_count("r", "rs_per_host"), block, per_rank
    )
    ranks = read.ranks or (sets * each if sets else None)
    return LaunchOrderRules(ranks, per_rank, order.place)


def _read_cores(read: LaunchOptions, default: int) -> int | None:
    """Return the cores of a resource set; None for all of a host."""
    option = read.find("c", "cpu_per_rs")
    if option is None:
        return default
    return (
        None
        if option.values[0] == ALL_CPUS
        else read_count(option.values[0], option.text)
    )


def _read_distribution(value: str, option: str) -> int | None:
    """Return the block of ranks that a resource set gets at a time; None for all."""
    name, _, size = value.partition(":")
    if name == "packed" and not size:
        return None
    if name == "cyclic" and not size:
        return 1
    if name == "plane":
        return read_count(size, option)
    raise LaunchError(f"'{option}': expected packed, cyclic or plane:N")
