# SPDX-License-Identifier: BSD-3-Clause
"""The cores of a node that a job may use, and the resources that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted

#: Resources of every node; others are sizes in its description.
NODE, CORE = "node", "core"
L2, L3, NUMA, PACKAGE = "L2", "L3", "numa", "package"
_PLURALS = {L2: "L2 caches", L3: "L3 caches", NUMA: "NUMA domains", PACKAGE: "packages"}


class LaunchError(ParameterError):
    """An error in the words of a launch line, or in what they need."""

    def __init__(self, problem: str) -> None:
        super().__init__("launcher", problem)


class MissingResourceError(LaunchError):
    """Raised if the description of nodes lacks a resource that a launch line names."""


@dataclass(frozen=True)
class NodeCores:
    """Cores of one node.

    Attributes
    ----------
    cores
        Numbers of the cores that the job may use, ascending.
    sizes
        Cores of each resource by name: ``{"L3": 8, "package": 32}``.
    cpus
        CPUs of each of `cores`, numbered as by the operating system; empty if unknown.
        Then core i has CPU i.
    """

    cores: tuple[int, ...]
    sizes: Mapping[str, int] = field(default_factory=dict, hash=False)
    cpus: tuple[tuple[int, ...], ...] = ()

    def split(self, resource: str) -> list[tuple[int, ...]]:
        """List the cores of each resource with any usable core.

        Raises `MissingResourceError` if the node's description lacks the resource.
        """
        if resource == NODE:
            return [self.cores]
        if resource == CORE:
            return [(core,) for core in self.cores]
        if resource not in self.sizes:
            raise MissingResourceError(
                f"needs {_PLURALS[resource]}, which the machine does not describe; "
                "describe them in [node] of its TOML file (see 'topoloom help "
                "machines'), or choose a mapping without them"
            )
        parts: dict[int, list[int]] = {}
        for core in self.cores:
            parts.setdefault(core // self.sizes[resource], []).append(core)
        return [tuple(part) for part in parts.values()]

    def find_position(self, cpu: int) -> int:
        """Return the position in `cores` of the core with this CPU.

        Raises `LaunchError` if the job has no core with it.
        """
        cpus = self.cpus or tuple((core,) for core in self.cores)
        for position, own in enumerate(cpus):
            if cpu in own:
                return position
        raise LaunchError(f"uses CPU {cpu}, but the job has no core with it on a node")


class RankCores(NamedTuple):
    """The node of a rank, by its position in the job, and its cores there.

    The first core is where the rank is placed.
    """

    node: int
    cores: tuple[int, ...]


def check_room(ranks: int, room: Sequence[int], what: str = "rank") -> None:
    """Raise an error if nodes with room for `room` ranks have too few for `ranks`."""
    if ranks > sum(room):
        raise LaunchError(
            f"has room for {counted(sum(room), what)} on {counted(len(room), 'node')}, "
            f"but the job has {ranks:,}"
        )


def take_cores(free: list[int], within: Sequence[int], count: int) -> tuple[int, ...]:
    """Remove the first `count` free cores, of `within` if it has as many."""
    inside = set(within)
    found = [core for core in free if core in inside][:count]
    if len(found) < count:
        found = free[:count]
    for core in found:
        free.remove(core)
    return tuple(found)
