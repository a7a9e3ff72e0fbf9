# SPDX-License-Identifier: BSD-3-Clause
"""Reads SimGrid clusters beside other parts: hosts, private links and a backbone."""

from __future__ import annotations

from topoloom.importers.simgrid.platform_parts import (
    Crossing,
    PlatformLink,
    PlatformParts,
)
from topoloom.importers.simgrid.read_cluster import list_cluster_hosts
from topoloom.importers.simgrid.units import read_bandwidth
from topoloom.support.xml_tree import Element

_IGNORED = ("prop", "config")


class FlatCluster:
    """Hosts with private links, a router, and a backbone that all messages cross."""

    def __init__(self, platform: PlatformParts, element: Element) -> None:
        self.name = element.attributes.get("id", "cluster")
        self._element = element
        #: Point -> the crossings up to the backbone and down from it.
        self.points: dict[str, tuple[tuple[Crossing, ...], tuple[Crossing, ...]]] = {}
        self.backbone: tuple[Crossing, ...] = ()
        if element.tag == "cluster":
            return
        for part in element.children:
            if part.tag == "cabinet":
                add_private_hosts(self, platform, part)
            elif part.tag == "host":
                platform.add_host(part, part.require("id"))
                self.points[part.require("id")] = ((), ())
            elif part.tag == "router":
                self.points[part.require("id")] = ((), ())
            elif part.tag == "link":
                platform.add_link(part, part.require("id"), "bandwidth", "latency")
            elif part.tag == "backbone":
                name = part.require("id")
                platform.add_link(part, name, "bandwidth", "latency")
                self.backbone = (platform.add_use(name, True),)
            elif part.tag == "host_link":
                self._add_host_link(platform, part)
            elif part.tag not in _IGNORED:
                part.fail(f"a <{part.tag[:20]}> in a cluster cannot be read")

    def _add_host_link(self, platform: PlatformParts, part: Element) -> None:
        name = part.require("id")
        if name not in self.points:
            part.fail(f"no <host> has the id '{name}'")
        crossings = []
        for key, suffix in (("up", "_UP"), ("down", "_DOWN")):
            link = part.require(key)
            # A link of two directions is named with a suffix, a shared one twice.
            if link not in platform.links:
                link = link.removesuffix(suffix)
            if link not in platform.links:
                part.fail(f"no <link> has the id '{part.require(key)}'")
            shared = part.require("up") == part.require("down")
            duplex = link != part.require(key) or shared
            crossings.append((platform.add_use(link, key == "up" or not duplex),))
        self.points[name] = (crossings[0], crossings[1])

    def find_route(self, source: str, target: str) -> list[Crossing]:
        """Find the links between two points of the cluster."""
        if source == target:
            return []
        return [*self.points[source][0], *self.backbone, *self.points[target][1]]


def add_private_hosts(
    cluster: FlatCluster, platform: PlatformParts, part: Element
) -> None:
    """Add the hosts of a ``<cluster>`` or ``<cabinet>``, with a link for each."""
    usual: list[str] = []
    for host in list_cluster_hosts(part):
        platform.add_host(part, host)
        link = f"{cluster.name}/{host}"
        platform.add_link(part, link, "bw", "lat", "SPLITDUPLEX")
        up: tuple[Crossing, ...] = (platform.add_use(link, True),)
        down: tuple[Crossing, ...] = (platform.add_use(link, False),)
        if "limiter_link" in part.attributes:
            limiter = f"{link}/limiter"
            rate = read_bandwidth(part, "limiter_link")
            platform.join_link(part, limiter, PlatformLink(rate, 0.0, "SHARED"))
            up = (platform.add_use(limiter, True), *up)
            down = (*down, platform.add_use(limiter, False))
        cluster.points[host] = (up, down)
        if host in platform.named:
            continue
        usual.append(host)
        duplex = platform.links[link].policy == "SPLITDUPLEX"
        if len(usual) > 1 and len(up) == 1 and duplex:
            platform.twins[host] = usual[0]


def make_flat_cluster(platform: PlatformParts, part: Element) -> FlatCluster:
    """Make a ``<cluster>`` beside other parts of a platform."""
    kind = part.attributes.get("topology", "FLAT")
    if kind != "FLAT":
        part.fail(
            f"a cluster of topology {kind[:20]} beside other parts cannot be read"
        )
    if "loopback_bw" in part.attributes:
        platform.noted["loopback_bw of a cluster left out"] += 1
    cluster = FlatCluster(platform, part)
    add_private_hosts(cluster, platform, part)
    prefix, suffix = (part.attributes.get(key, "") for key in ("prefix", "suffix"))
    router = part.attributes.get("router_id", f"{prefix}{cluster.name}_router{suffix}")
    cluster.points[router] = ((), ())
    if "bb_bw" in part.attributes:
        name = f"{cluster.name}/backbone"
        # A FATPIPE has the sharing policy of its own attribute.
        policy = part.attributes.get("bb_sharing_policy", "SHARED")
        link = Element(
            part.tag, {**part.attributes, "sharing_policy": policy}, part.line
        )
        platform.add_link(link, name, "bb_bw", "bb_lat")
        cluster.backbone = (platform.add_use(name, True),)
    return cluster
