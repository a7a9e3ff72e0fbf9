# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid platforms for tests: clusters, and zones with explicit routes."""

from __future__ import annotations

HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""


def format_cluster(**attributes: str) -> str:
    values = {
        "id": "acme",
        "prefix": "node-",
        "radical": "0-11",
        "suffix": ".acme.org",
        "speed": "1Gf",
        "bw": "125MBps",
        "lat": "50us",
        **attributes,
    }
    words = " ".join(f'{key}="{value}"' for key, value in values.items() if value)
    return f"{HEAD}  <!-- a rack -->\n  <cluster {words}/>\n</platform>\n"


def format_zone(body: str, routing: str = "Full", hosts: str = "abc") -> str:
    points = "\n".join(f'    <host id="{name}" speed="1Gf"/>' for name in hosts)
    return (
        f'{HEAD}  <zone id="z" routing="{routing}">\n{points}\n{body}\n'
        "  </zone>\n</platform>\n"
    )


def format_link(
    name: str, bandwidth: str = "1GBps", policy: str = "SPLITDUPLEX"
) -> str:
    return (
        f'<link id="{name}" bandwidth="{bandwidth}" latency="1us" '
        f'sharing_policy="{policy}"/>\n'
    )


def format_route(source: str, target: str, links: str, symmetrical: str = "") -> str:
    parts = "".join(f'<link_ctn id="{name}"/>' for name in links.split())
    how = f' symmetrical="{symmetrical}"' if symmetrical else ""
    return f'<route src="{source}" dst="{target}"{how}>{parts}</route>\n'


BY_SWITCH = (
    format_link("up", "2GBps")
    + format_link("l1")
    + format_link("l2")
    + '<router id="r"/>'
    + format_route("a", "r", "up")
    + format_route("b", "r", "l1")
    + format_route("c", "r", "l2")
)
B_TO_C = format_route("b", "c", "lb lc")
STAR = (
    format_link("la")
    + format_link("lb")
    + format_link("lc")
    + format_route("a", "b", "la lb")
    + B_TO_C
    + format_route("a", "c", "la lc")
)
BACKBONE = (
    format_link("la")
    + format_link("lb")
    + format_link("lc")
    + format_link("bb", "5GBps")
    + format_route("a", "b", "la bb lb")
    + format_route("b", "c", "lb bb lc")
    + format_route("a", "c", "la bb lc")
)

_HOSTS = '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>'
_LINKS = "".join(
    f'<link id="{name}" bandwidth="{rate}GBps" latency="1us"/>'
    for name, rate in (("k", 2), ("l", 3), ("m", 5))
)
#: Platforms whose routes are listed: a bypass, a bus of three hosts, and two peers.
LISTED = [
    f'<platform version="4.1"><zone id="w" routing="{routing}">{body}</zone></platform>'
    for routing, body in (
        (
            "Floyd",
            f'{_HOSTS}<router id="r"/>{_LINKS}'
            '<route src="a" dst="r"><link_ctn id="k"/></route>'
            '<route src="r" dst="b"><link_ctn id="l"/></route>'
            '<bypassRoute src="a" dst="b"><link_ctn id="m"/></bypassRoute>',
        ),
        (
            "Full",
            f'{_HOSTS}<host id="c" speed="1Gf"/>{_LINKS}'
            '<route src="a" dst="b"><link_ctn id="k"/></route>'
            '<route src="b" dst="c"><link_ctn id="k"/></route>'
            '<route src="c" dst="a"><link_ctn id="k"/></route>',
        ),
        (
            "Vivaldi",
            '<peer id="a" coordinates="1 2 3" speed="1Gf" bw_in="2GBps" '
            'bw_out="3GBps"/>'
            '<peer id="b" coordinates="4 5 6" speed="1Gf" bw_in="5GBps" '
            'bw_out="7GBps"/>',
        ),
    )
]
