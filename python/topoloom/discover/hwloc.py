# SPDX-License-Identifier: BSD-3-Clause
"""The inside of a node from hwloc's XML, versions 2 and 3, as lstopo exports it.

A slot is a core: hardware threads (PUs) that share one are one slot. GPUs, network
interfaces and other devices are passed over.
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.discover.described import Described
from topoloom.discover.node_levels import (
    SHARED,
    Container,
    Inside,
    levels_text,
    nodes_text,
)
from topoloom.discover.xml_tree import read_xml
from topoloom.hostlist import is_host

#: More hardware threads than any node has; bounds what a file can make us compute.
_MOST_PUS = 16_384
_WORD = re.compile(r"(?:0x)?[0-9a-fA-F]{1,8}")


def read_hwloc(text: str) -> Described:
    """Read one node and its levels; its host name, where the file has it.

    Raises
    ------
    topoloom.Error
        ``line N: ...`` where the file is not what hwloc 2 or 3 writes.
    """
    inside, host = read_inside(text)
    return Described(nodes_text(1, levels_text(inside)), (host,) if host else ())


def read_inside(text: str) -> tuple[Inside, str | None]:
    """Read cores, what they share, and the host name if there is one."""
    topology = _Topology()
    for element in read_xml(text).walk():
        topology.start(element.line, element.tag, element.attributes)
    return topology.inside(), topology.host


def recognizes_hwloc(head: str) -> bool:
    """Tell whether this is the beginning of hwloc's XML, of any version."""
    return re.search(r"<topology[\s>]", head) is not None and "<object" in head


class _Topology:
    """What the tags have told so far."""

    def __init__(self) -> None:
        self.host: str | None = None
        self._begun = False
        self._machines = 0
        self._allowed: int | None = None
        self._pus: dict[int, int] = {}
        self._cores: list[tuple[int, int]] = []
        self._containers: set[Container] = set()

    def start(self, line: int, tag: str, attributes: dict[str, str]) -> None:
        try:
            self._start(tag, attributes, line)
        except Error as error:
            raise Error(f"line {line}: {error}") from None

    def _start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        if not self._begun:
            _check_root(tag, attributes)
            self._begun = True
        elif tag == "object":
            self._object(attributes, line)
        elif tag == "info" and attributes.get("name") == "HostName":
            host = attributes.get("value", "")
            self.host = host if is_host(host) else None

    def _object(self, attributes: dict[str, str], line: int) -> None:
        kind = attributes.get("type")
        if kind is None:
            raise Error("an object has no type")
        if kind == "Cache":
            raise Error(_OLD)
        if kind == "Machine":
            self._machines += 1
            if self._machines > 1:
                raise Error("a second Machine; export one node a file")
            if "allowed_cpuset" in attributes:
                self._allowed = _cpus(attributes, "allowed_cpuset", kind)
        elif kind == "PU":
            self._pu(attributes, line)
        elif kind == "Core":
            self._cores.append((line, _cpus(attributes, "cpuset", kind)))
        elif kind in SHARED:
            self._containers.add(Container(kind, _cpus(attributes, "cpuset", kind)))
            if len(self._containers) > len(SHARED) * _MOST_PUS:
                raise Error("more caches, NUMA domains and packages than any node has")

    def _pu(self, attributes: dict[str, str], line: int) -> None:
        number = attributes.get("os_index", "")
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise Error("a PU has no os_index, which is a number")
        cpus = _cpus(attributes, "cpuset", "PU")
        if cpus != 1 << min(int(number), _MOST_PUS):
            raise Error(f"PU {number} does not have itself as its cpuset")
        if int(number) in self._pus:
            first = self._pus[int(number)]
            raise Error(f"PU {number} a second time, first on line {first}")
        self._pus[int(number)] = line

    def inside(self) -> Inside:
        """Put cores and containers together once all tags are read."""
        pus = sum(1 << number for number in self._pus)
        if self._allowed is not None:
            pus &= self._allowed
        if not pus:
            raise Error("line 1: no PU of the topology may be used; export it again")
        cores, taken = [], 0
        for line, core in self._cores:
            if core & taken:
                raise Error(f"line {line}: the Core shares PUs with an earlier one")
            taken |= core
            cores.append(core)
        if not cores:
            # Some virtual machines do not tell cores from hardware threads.
            cores = [1 << number for number in self._pus]
        elif pus & ~taken:
            number = (pus & ~taken & -(pus & ~taken)).bit_length() - 1
            raise Error(f"line {self._pus[number]}: PU {number} is part of no Core")
        return Inside(cores, sorted(self._containers)).within(pus)


_OLD = "this is XML of hwloc 1; export it again with lstopo of hwloc 2 or newer"


def _check_root(tag: str, attributes: dict[str, str]) -> None:
    if tag != "topology":
        raise Error(f"hwloc's XML begins with <topology>, not <{tag[:40]}>")
    version = attributes.get("version")
    if version is None or version.startswith("1."):
        raise Error(_OLD)
    if version.partition(".")[0] not in ("2", "3"):
        raise Error(f"hwloc XML version '{version[:40]}'; 2 and 3 are read")


def _cpus(attributes: dict[str, str], name: str, kind: str) -> int:
    """Read a set of PUs: 32-bit words, the highest first, an empty one for 0."""
    text = attributes.get(name)
    if text is None:
        raise Error(f"a {kind} has no {name}")
    words = text.split(",")
    if len(words) > _MOST_PUS // 32:
        raise Error(f"{name} names PUs beyond {_MOST_PUS - 1}")
    cpus = 0
    for word in words:
        if word and not _WORD.fullmatch(word):
            raise Error(f"'{word[:40]}' in {name} is no 32-bit word such as 0x000000ff")
        cpus = cpus << 32 | (int(word, 16) if word else 0)
    return cpus
