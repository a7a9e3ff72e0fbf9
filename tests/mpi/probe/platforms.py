# SPDX-License-Identifier: BSD-3-Clause
"""Platforms of SimGrid with known costs."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from mpis import SIMGRID, need

from smpi import SETTINGS

_HEAD = (
    '<?xml version="1.0"?>\n'
    '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    '<platform version="4.1">\n'
)
#: SMPI settings without correction factors: message times depend on the platform only.
PLAIN = {
    **SETTINGS,
    "smpi/lat-factor": "0:1",
    "smpi/bw-factor": "0:1",
    "network/TCP-gamma": "1e15",
}


def write_launcher(
    folder: Path, xml: str, hosts: Sequence[str], per_host: int = 1
) -> list[str]:
    """Write a platform; return the launcher command, with ranks in the hosts' order."""
    platform, hostfile = folder / "platform.xml", folder / "hosts"
    platform.write_text(xml)
    ranks = [host for host in hosts for _ in range(per_host)]
    hostfile.write_text("".join(f"{host}\n" for host in ranks))
    return [
        need(SIMGRID.mpirun, SIMGRID.install),
        *("-np", str(len(ranks)), "-platform", str(platform)),
        *("-hostfile", str(hostfile), "--log=root.thresh:error"),
        *(f"--cfg={name}:{value}" for name, value in PLAIN.items()),
    ]


def shuffle_hosts(hosts: Sequence[str], seed: int = 1) -> list[str]:
    """Return the hosts in random order, like a batch system."""
    order = list(hosts)
    random.Random(seed).shuffle(order)
    return order


def format_tree(
    groups: Sequence[int],
    latency: float = 1e-6,
    uplink: tuple[float, float] = (20e9, 2e-6),
    bandwidths: Mapping[str, float] | None = None,
    trunk: tuple[Collection[str], float] = ((), 0.0),
    sending: Mapping[str, float] | None = None,
) -> str:
    """Write hosts ``h0``, ...; each group has a switch below a root switch.

    Parameters
    ----------
    latency
        Latency of a host's cable in seconds.
    uplink
        Bandwidth (bytes per second) and latency (seconds) of a switch's cable.
    bandwidths
        Bandwidths of hosts in bytes per second; other hosts have 10 GB/s.
    trunk
        Hosts of the first group that share a link without latency to their switch, and
    the link's bytes per second.
    sending
        Bytes per second of hosts that send more slowly than they receive.
    """
    lines = [_HEAD, '<zone id="machine" routing="Floyd"><router id="root"/>\n']
    routes: list[str] = []
    if trunk[0]:
        lines += ['<router id="behind"/>', _format_link("trunk", trunk[1], 0)]
        routes += _format_both_routes("behind", "s0", "trunk")
    number = 0
    for group, size in enumerate(groups):
        lines.append(f'<router id="s{group}"/>')
        lines.append(_format_link(f"u{group}", *uplink))
        routes += _format_both_routes(f"s{group}", "root", f"u{group}")
        for _ in range(size):
            host = f"h{number}"
            number += 1
            rate = (bandwidths or {}).get(host, 10e9)
            lines.append(f'<host id="{host}" speed="1Gf"/>')
            lines.append(_format_link(f"c-{host}", rate, latency))
            lines.append(f'<link id="l-{host}" bandwidth="20GBps" latency="200ns"/>')
            link = f'<link_ctn id="l-{host}"/>'
            routes.append(_format_route(host, host, link))
            switch = "behind" if host in trunk[0] else f"s{group}"
            there, back = _format_both_routes(host, switch, f"c-{host}")
            if host in (sending or {}):
                lines.append(_format_link(f"o-{host}", sending[host], latency))
                there = _format_route(host, switch, _format_crossing(f"o-{host}", "UP"))
            routes += [there, back]
    return "".join([*lines, *routes, "</zone></platform>\n"])


def format_torus(extents: Sequence[int]) -> str:
    """Write a torus of hosts ``n0``, ...; the first coordinate varies fastest."""
    last = 1
    for extent in extents:
        last *= extent
    return (
        f'{_HEAD}<cluster id="torus" topology="TORUS" '
        f'topo_parameters="{",".join(map(str, extents))}" prefix="n" suffix="" '
        f'radical="0-{last - 1}" speed="1Gf" bw="5GBps" lat="1us" '
        'loopback_bw="20GBps" loopback_lat="100ns" sharing_policy="SPLITDUPLEX"/>'
        "</platform>\n"
    )


def _format_link(name: str, bandwidth: float, latency: float) -> str:
    return (
        f'<link id="{name}" bandwidth="{bandwidth}Bps" latency="{latency}s" '
        'sharing_policy="SPLITDUPLEX"/>\n'
    )


def _format_both_routes(below: str, above: str, link: str) -> list[str]:
    up, down = (_format_crossing(link, direction) for direction in ("UP", "DOWN"))
    return [_format_route(below, above, up), _format_route(above, below, down)]


def _format_crossing(link: str, direction: str) -> str:
    return f'<link_ctn id="{link}" direction="{direction}"/>'


def _format_route(start: str, end: str, link: str) -> str:
    return f'<route src="{start}" dst="{end}" symmetrical="NO">{link}</route>\n'
