# SPDX-License-Identifier: BSD-3-Clause
"""Collects the hosts and links of SimGrid platforms with several zones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from topoloom.importers.simgrid.units import read_bandwidth, read_latency
from topoloom.support.xml_tree import Element

#: Bandwidth of links that only add latency, or only join others.
NO_LIMIT = 1e18


class PlatformLink(NamedTuple):
    """A link: bytes/s, seconds, and its sharing policy."""

    bandwidth: float
    latency: float
    policy: str

    @property
    def shared(self) -> bool:
        """Return whether messages share the capacity of the link."""
        return self.policy != "FATPIPE"


class Crossing(NamedTuple):
    """A link in a route.

    `use` is the number of the place in the file that lists it; `forward` is False where
    that route is taken backwards. Uses in `PlatformParts.directed` state the direction
    of the link; that of others is unknown.
    """

    link: str
    use: int
    forward: bool

    def reversed(self) -> Crossing:
        """Return the same link, crossed the other way."""
        return self._replace(forward=not self.forward)


class PlatformParts:
    """Hosts with their cores, and links of a platform."""

    def __init__(self, named: Collection[str]) -> None:
        #: Ends and gateways of routes, by name.
        self.named = named
        self.cores: dict[str, int] = {}
        self.links: dict[str, PlatformLink] = {}
        self.directed: dict[int, bool] = {}
        #: Host -> a host of its cluster with the same routes but for the private link.
        self.twins: dict[str, str] = {}
        #: Remark -> in how many places of the file.
        self.noted: Counter[str] = Counter()
        self._uses = 0

    def add_link(
        self,
        link: Element,
        name: str,
        bandwidth: str,
        latency: str,
        policy: str = "SHARED",
    ) -> None:
        """Add a link with the rates in two attributes of an element.

        `policy` is the sharing policy of an element that states none.
        """
        policy = link.attributes.get("sharing_policy", policy)
        policy = "SPLITDUPLEX" if policy == "FULLDUPLEX" else policy  # its old name
        if policy not in ("SHARED", "SPLITDUPLEX", "FATPIPE"):
            link.fail(f"sharing_policy {policy[:20]} cannot be read")
        rate = read_bandwidth(link, bandwidth)
        seconds = read_latency(link, latency, "0")
        self.join_link(link, name, PlatformLink(rate, seconds, policy))

    def join_link(self, element: Element, name: str, link: PlatformLink) -> None:
        """Add a link that an element describes."""
        if name in self.links:
            element.fail(f"link '{name}' appears twice")
        self.links[name] = link

    def add_use(self, link: str, forward: bool | None) -> Crossing:
        """Add a place that lists a link, and its direction, if it is stated."""
        self._uses += 1
        if forward is not None:
            self.directed[self._uses] = forward
        return Crossing(link, self._uses, True)

    def add_host(self, host: Element, name: str) -> None:
        """Add a host."""
        if name in self.cores:
            host.fail(f"'{name}' appears twice")
        self.cores[name] = host.number("core", 1)
        if self.cores[name] == 0:
            host.fail("a host has no core")
