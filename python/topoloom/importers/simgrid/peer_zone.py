# SPDX-License-Identifier: BSD-3-Clause
"""Reads SimGrid's Vivaldi zones: hosts at coordinates, with a link in and a link out.

A message goes over the link out of its source and the link into its target. It takes
the distance of their coordinates in addition, in milliseconds: sqrt(x^2 + y^2) between
the hosts, and the heights of both.
"""

from __future__ import annotations

import math

from topoloom.importers.simgrid.platform_parts import (
    NO_LIMIT,
    Crossing,
    PlatformLink,
    PlatformParts,
)
from topoloom.importers.simgrid.units import read_bandwidth
from topoloom.support.xml_tree import Element

_IGNORED = ("prop", "config", "trace", "trace_connect")
_MILLISECONDS = 1e-3


class PeerZone:
    """Hosts with coordinates."""

    def __init__(self, platform: PlatformParts, zone: Element) -> None:
        self.name = zone.attributes.get("id", "zone")
        #: Point -> the links out of it and into it.
        self.points: dict[str, tuple[tuple[Crossing, ...], tuple[Crossing, ...]]] = {}
        self._platform, self._element = platform, zone
        self._places: dict[str, tuple[float, float, float]] = {}
        self._between: dict[tuple[str, str], Crossing] = {}
        for part in zone.children:
            if part.tag in ("host", "peer"):
                self._add_peer(part)
            elif part.tag not in _IGNORED:
                part.fail(f"a <{part.tag[:20]}> in a Vivaldi zone cannot be read")

    def _add_peer(self, part: Element) -> None:
        name = part.require("id")
        self._platform.add_host(part, name)
        self._places[name] = _read_coordinates(part)
        ways: list[tuple[Crossing, ...]] = []
        for key in ("bw_out", "bw_in") if part.tag == "peer" else ():
            rate = read_bandwidth(part, key)
            link = f"{name}/{key}"
            self._platform.join_link(part, link, PlatformLink(rate, 0.0, "SHARED"))
            ways.append((self._platform.add_use(link, True),))
        self.points[name] = (ways[0], ways[1]) if ways else ((), ())

    def find_route(self, source: str, target: str) -> list[Crossing]:
        """Find the links between two hosts."""
        if source == target:
            return []
        middle = self._measure(source, target)
        return [*self.points[source][0], middle, *self.points[target][1]]

    def _measure(self, source: str, target: str) -> Crossing:
        """Return a link without limit that takes as long as the distance."""
        pair = min(source, target), max(source, target)
        if pair not in self._between:
            name = "/".join((*pair, "distance"))
            (x, y, height), (to_x, to_y, to_height) = (self._places[p] for p in pair)
            distance = math.hypot(x - to_x, y - to_y) + abs(height) + abs(to_height)
            link = PlatformLink(NO_LIMIT, distance * _MILLISECONDS, "SPLITDUPLEX")
            self._platform.join_link(self._element, name, link)
            self._platform.noted["distance of hosts read as a link without limit"] += 1
            self._between[pair] = self._platform.add_use(name, True)
        middle = self._between[pair]
        return middle if pair[0] == source else middle.reversed()


def _read_coordinates(part: Element) -> tuple[float, float, float]:
    words = part.require("coordinates").split()
    try:
        x, y, height = map(float, words)
    except ValueError:
        part.fail('coordinates are three numbers, such as "25.5 9.4 1.4"')
    if not all(map(math.isfinite, (x, y, height))):
        part.fail("coordinates must be finite")
    return x, y, height
