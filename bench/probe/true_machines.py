# SPDX-License-Identifier: BSD-3-Clause
"""Machines of several shapes, as SimGrid platforms and as Topoloom machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from probe.planted import Group, Planted, draw, leaves
from probe.platforms import launcher, platform
from topoloom import Machine

_TORUS = """\
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="torus" topology="TORUS" topo_parameters="{extents}" prefix="h" suffix=""
  radical="0-{last}" speed="1Gf" bw="{rate}Bps" lat="{latency}s"
  sharing_policy="SPLITDUPLEX"/>
</platform>
"""
#: Maximum ranks of a machine: few, because programs run several times on each.
_RANKS = 32
_EXTENTS = ((3, 3, 3), (5, 5))
#: Latency of a torus link in seconds.
_LINK = 0.5e-6


@dataclass(frozen=True)
class Case:
    """A machine with ranks on it.

    Attributes
    ----------
    planted
        Costs of messages.
    xml
        SimGrid platform of the machine.
    truth, hosts
        The machine in Topoloom, and the names of its nodes.
    host_of
        The name of the host of each rank.
    """

    name: str
    planted: Planted
    xml: str
    truth: Machine
    hosts: list[str]
    host_of: list[str]

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.host_of)

    def launcher(
        self, folder: Path, noise: Path | None
    ) -> tuple[list[str], dict[str, str]]:
        """Write the machine's files; return the launcher and environment.

        `noise` is the library of `platforms.build_noise`; without it, messages do not
        vary.
        """
        planted = self.planted if noise else replace(self.planted, noise=0)
        words, variables = launcher(planted, folder, noise)
        (folder / "machine.xml").write_text(self.xml)
        (folder / "hosts").write_text("".join(f"{host}\n" for host in self.host_of))
        return words, variables


def cases(each: int) -> Iterator[Case]:
    """Draw `each` machines of each shape, without slow hosts and links."""
    shapes: dict[str, Callable[[Planted], bool]] = {
        "flat": lambda m: m.depth == 1,
        "2 levels": lambda m: m.depth == 2 and is_even(m.groups),
        "3 levels": lambda m: m.depth == 3 and is_even(m.groups),
        "ragged": lambda m: m.depth > 1 and not is_even(m.groups),
    }
    for name, fits in shapes.items():
        drawn = (draw(seed) for seed in count(1))
        fitting = (m for m in drawn if fits(m) and len(m.host_of) <= _RANKS)
        for machine, _ in zip(fitting, range(each), strict=False):
            yield _make_case(name, replace(machine, slow=None, shared=(), trunk=None))
    for number in range(each):
        yield _make_torus_case(draw(number + 1), _EXTENTS[number % len(_EXTENTS)])


def is_even(group: Group) -> bool:
    """Whether all groups of a level have the same number of parts."""
    level = [group]
    while not isinstance(level[0][0], int):
        if len({len(part) for part in level}) > 1:
            return False
        level = [part for of in level for part in of if not isinstance(part, int)]
    return len({len(part) for part in level}) == 1


def _make_case(name: str, machine: Planted) -> Case:
    links: list[str] = []
    switches = count(machine.hosts)

    def visit(group: Group, level: int) -> int:
        switch = next(switches)
        for part in group:
            below = level - 1
            end = part if isinstance(part, int) else visit(part, below)
            start = machine.latencies[below] if below else 0.0
            latency = (machine.latencies[level] - start) / 2
            speed = f"{machine.bandwidths[level]:.9g}B/s@{latency:.9g}s"
            links.append(f"{end}-{switch}@{speed}")
        return switch

    visit(machine.groups, machine.depth)
    each = len(machine.host_of) // machine.hosts
    parts = next(switches) - machine.hosts
    text = f"graph:{machine.hosts}+{parts}:{','.join(links)}+node:{each}"
    return Case(
        name,
        machine,
        platform(machine),
        Machine(text),
        [f"h{host}" for host in sorted(leaves(machine.groups))],
        [f"h{host}" for host in machine.host_of],
    )


def _make_torus_case(costs: Planted, extents: tuple[int, ...]) -> Case:
    """Make a torus of hosts with one rank each, in order."""
    last = 1
    for extent in extents:
        last *= extent
    xml = _TORUS.format(
        extents=",".join(map(str, extents)),
        last=last - 1,
        rate=f"{costs.bandwidths[1]:.9g}",
        latency=_LINK,
    )
    axes = "x".join(map(str, reversed(extents)))
    hosts = [f"h{host}" for host in range(last)]
    machine = replace(
        costs,
        host_of=tuple(range(last)),
        groups=tuple(range(last)),
        latencies=costs.latencies[:2],
        bandwidths=costs.bandwidths[:2],
        noise=0.0,
        slow=None,
        shared=(),
        trunk=None,
    )
    truth = Machine(f"torus:{axes}")
    return Case("torus", machine, xml, truth, hosts, hosts)
