# SPDX-License-Identifier: BSD-3-Clause
"""A random machine in SimGrid: platform, hosts of ranks, settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import smpi
from probe.planted import BANDWIDTH, ENVELOPE, LATENCY, SLOW, Group, Planted, leaves

_HEAD = """\
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="machine" routing="Full">
"""
_NOISE = Path(__file__).with_name("noise.cpp")
#: Eager limit above all messages, so that one protocol is used.
_EAGER = 1 << 28


def platform(machine: Planted) -> str:
    """Format the platform of a machine."""
    lines = [f'<host id="h{host}" speed="1Gf"/>' for host in range(machine.hosts)]
    lines += _format_links(machine)
    for host in range(machine.hosts):
        route = f'src="h{host}" dst="h{host}" symmetrical="NO"'
        lines.append(f'<route {route}><link_ctn id="inside{host}"/></route>')
    above = uplinks_above(machine.groups)
    own = {pair: f"shared-{n}" for pair, n in _format_shared_links(machine)}
    trunk = machine.trunk.hosts if machine.trunk is not None else ()
    for b in range(machine.hosts):
        for a in range(b):
            there = [f"host{a}", *_list_leaving_links(above[a], above[b])]
            back = [f"host{b}", *_list_leaving_links(above[b], above[a])]
            links = [(name, "UP") for name in there]
            if (a, b) in own:
                links.append((own[a, b], "UP"))
            if (a in trunk) != (b in trunk):
                links.append(("trunk", "UP" if a in trunk else "DOWN"))
            links += [(name, "DOWN") for name in reversed(back)]
            words = "".join(
                f'<link_ctn id="{name}" direction="{way}"/>' for name, way in links
            )
            lines.append(f'<route src="h{a}" dst="h{b}">{words}</route>')
    return _HEAD + "\n".join(lines) + "\n</zone>\n</platform>\n"


def _format_links(machine: Planted) -> Iterator[str]:
    slow = machine.slow
    inside, first = machine.latencies[0], machine.latencies[1] / 2
    for host in range(machine.hosts):
        rate, latency = machine.bandwidths[1], first
        if slow is not None and slow.hosts == (host,):
            rate *= SLOW if slow.of == BANDWIDTH else 1
            latency += machine.added_latency() if slow.of == LATENCY else 0
        yield _format_link(f"inside{host}", machine.bandwidths[0], inside, "FATPIPE")
        yield _format_link(f"host{host}", rate, latency)
    for group, level in _format_groups(machine.groups, machine.depth):
        step = machine.latencies[level + 1] - machine.latencies[level]
        yield _format_link(
            _get_group_name(group), machine.bandwidths[level + 1], step / 2
        )
    for n, of in {n: pair for pair, n in _format_shared_links(machine)}.items():
        rate, latency = machine.bandwidths[1], 0.0
        if slow is not None and slow.hosts == of:
            rate *= SLOW if slow.of == BANDWIDTH else 1
            latency += machine.added_latency() if slow.of == LATENCY else 0
        yield _format_link(f"shared-{n}", rate, latency)
    if machine.trunk is not None:
        yield _format_link("trunk", machine.trunk.lanes * machine.bandwidths[1], 0.0)


def _format_link(
    name: str, rate: float, latency: float, policy: str = "SPLITDUPLEX"
) -> str:
    size = f'bandwidth="{rate:.9g}Bps" latency="{latency:.9g}s"'
    return f'<link id="{name}" {size} sharing_policy="{policy}"/>'


def _format_shared_links(machine: Planted) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield pairs of hosts with a separate link, and the number of that link."""
    for pair in machine.shared:
        yield pair, 0
    if machine.slow is not None and len(machine.slow.hosts) == 2:
        a, b = machine.slow.hosts
        yield (a, b), 1


def _get_group_name(group: Group) -> str:
    hosts = list(leaves(group))
    return f"up{hosts[0]}-{hosts[-1]}"


def _format_groups(group: Group, depth: int) -> Iterator[tuple[Group, int]]:
    """Yield the nested groups with their level; 1 for groups of hosts."""
    for part in group:
        if not isinstance(part, int):
            yield part, depth - 1
            yield from _format_groups(part, depth - 1)


def uplinks_above(group: Group, above: tuple[str, ...] = ()) -> dict[int, list[str]]:
    """Return the uplinks above each host, from the lowest to the highest."""
    found: dict[int, list[str]] = {}
    for part in group:
        if isinstance(part, int):
            found[part] = list(above)
        else:
            found.update(uplinks_above(part, (_get_group_name(part), *above)))
    return found


def _list_leaving_links(mine: list[str], other: list[str]) -> list[str]:
    return [name for name in mine if name not in other]


def settings(machine: Planted) -> dict[str, str]:
    """Return SimGrid's settings for a machine."""
    constant = {"smpi/os": machine.sending, "smpi/ois": machine.sending}
    made = {
        **{name: f"0:{value:.9g}:0" for name, value in constant.items()},
        "smpi/or": f"0:{machine.receiving:.9g}:0",
        "smpi/simulate-computation": "no",
        "smpi/send-is-detached-thresh": str(_EAGER),
        "network/TCP-gamma": "1e15",
    }
    if not machine.noise:
        made["smpi/lat-factor"] = factors(machine, LATENCY)
        made["smpi/bw-factor"] = factors(machine, BANDWIDTH)
    return made


def factors(machine: Planted, of: str) -> str:
    """Format factors in SMPI's syntax: BYTES:FACTOR for messages above BYTES."""
    longer, words = 0, []
    for regime in machine.regimes:
        factor = regime.latency_factor if of == LATENCY else regime.bandwidth_factor
        words.append(f"{longer}:{factor:.9g}")
        longer = (regime.most or 0) + ENVELOPE
    return ";".join(words)


def build_noise(folder: Path) -> Path:
    """Compile the library that adds noise to messages."""
    library = folder / "noise.so"
    compiler = smpi.find("c++", "g++")
    smpi.run(compiler, "-O2", "-fPIC", "-shared", _NOISE, "-o", library, "-lsimgrid")
    return library


def launcher(
    machine: Planted, folder: Path, noise: Path | None
) -> tuple[list[str], dict[str, str]]:
    """Write the files of a machine; return its launcher and environment.

    Parameters
    ----------
    noise
        The library made by `build_noise`; None without noise.
    """
    file, hosts = folder / "machine.xml", folder / "hosts"
    file.write_text(platform(machine))
    hosts.write_text("".join(f"h{host}\n" for host in machine.host_of))
    loaded, variables = file, {}
    if machine.noise:
        assert noise is not None
        loaded = noise
        variables = {
            "PLANTED_PLATFORM": str(file),
            "PLANTED_NOISE": f"{machine.noise:g}",
            "PLANTED_SEED": str(machine.seed),
            "PLANTED_LATENCY": factors(machine, LATENCY),
            "PLANTED_BANDWIDTH": factors(machine, BANDWIDTH),
        }
    words = [smpi.find("smpirun", "libsimgrid-dev"), "-np", str(len(machine.host_of))]
    words += ["-platform", str(loaded), "-hostfile", str(hosts)]
    words += [f"--cfg={name}:{value}" for name, value in settings(machine).items()]
    return [*words, "--log=root.thresh:error"], variables
