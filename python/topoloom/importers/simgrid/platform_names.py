# SPDX-License-Identifier: BSD-3-Clause
"""Elements and attributes of SimGrid platforms 4 and 4.1, from ``simgrid.dtd``."""

from __future__ import annotations

from topoloom.importers.unknown_names import KnownNames, describe_unknown_names
from topoloom.support.xml_tree import Element

_HOSTS = ("id", "prefix", "suffix", "radical", "bw", "lat")
_ROUTE = ("src", "dst")
_ZONE_ROUTE = (*_ROUTE, "gw_src", "gw_dst")
#: Attributes that the DTD requires, and that describe the network.
_REQUIRED: dict[str, tuple[str, ...]] = {
    "cluster": _HOSTS,
    "cabinet": _HOSTS,
    "peer": ("id",),
    "zone": ("id",),
    "AS": ("id",),
    "host": ("id",),
    "host_link": ("id", "up", "down"),
    "router": ("id",),
    "backbone": ("id", "bandwidth", "latency"),
    "link": ("id", "bandwidth"),
    "link_ctn": ("id",),
    "route": _ROUTE,
    "bypassRoute": _ROUTE,
    "zoneRoute": _ZONE_ROUTE,
    "ASroute": _ZONE_ROUTE,
    "bypassZoneRoute": _ZONE_ROUTE,
    "bypassASroute": _ZONE_ROUTE,
}
_HOST_FILES = ("speed_file", "availability_file", "state_file", "coordinates")
_OPTIONAL: dict[str, tuple[str, ...]] = {
    "cluster": (
        *(
            "speed",
            "core",
            "sharing_policy",
            "topology",
            "topo_parameters",
            "router_id",
        ),
        *("bb_bw", "bb_lat", "bb_sharing_policy"),
        *("limiter_link", "loopback_bw", "loopback_lat"),
    ),
    "cabinet": ("speed",),
    **dict.fromkeys(("zone", "AS"), ("routing",)),
    "peer": ("speed", "bw_in", "bw_out", "lat", *_HOST_FILES),
    "host": ("speed", "core", "pstate", *_HOST_FILES),
    "router": ("coordinates",),
    "link": (
        *("latency", "sharing_policy"),
        *("bandwidth_file", "latency_file", "state_file"),
    ),
    "link_ctn": ("direction",),
    **dict.fromkeys(("route", "zoneRoute", "ASroute"), ("symmetrical",)),
}
#: Elements without network data.
_OTHER = (
    *("prop", "config", "random", "trace", "trace_connect", "disk", "mount"),
    *("storage", "storage_type", "actor", "process", "include", "model_prop"),
)
_KNOWN: KnownNames = {
    "platform": ("version",),
    **{tag: (*names, *_OPTIONAL.get(tag, ())) for tag, names in _REQUIRED.items()},
    **dict.fromkeys(_OTHER),
}


def check_platform_names(root: Element) -> tuple[str, ...]:
    """Return remarks on unknown names.

    Raises `topoloom.Error` if an element lacks an attribute that SimGrid requires.
    """
    for element in root.walk():
        for name in _REQUIRED.get(element.tag, ()):
            element.require(name)
    return describe_unknown_names(root, _KNOWN)
