# SPDX-License-Identifier: BSD-3-Clause
"""Output of `ibnetdiscover` and `dump_fts` for synthetic fabrics."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from hypothesis import strategies as st


class FabricDump:
    """Devices with numbered ports, and the cables between them."""

    def __init__(self) -> None:
        self.description: dict[str, str] = {}
        self.ports: dict[str, dict[int, tuple[str, int, str]]] = {}
        self.lid: dict[str, int] = {}

    def add_switch(self, description: str) -> str:
        """Add a switch."""
        return self._add(f"S-{0x0002C90200000000 + len(self.lid):016x}", description)

    def add_adapter(self, description: str) -> str:
        """Add the adapter of a host."""
        return self._add(f"H-{0x506B4B0300000000 + len(self.lid):016x}", description)

    def _add(self, name: str, description: str) -> str:
        self.description[name] = description
        self.ports[name] = {}
        self.lid[name] = len(self.lid) + 1
        return name

    def add_cable(self, a: str, b: str, rate: str = "4xEDR") -> None:
        """Connect the next free ports of two devices."""
        at_a, at_b = len(self.ports[a]) + 1, len(self.ports[b]) + 1
        self.ports[a][at_a] = (b, at_b, rate)
        self.ports[b][at_b] = (a, at_a, rate)

    def format_device(self, name: str) -> str:
        """Format a device as ibnetdiscover does."""
        kind, guid = ("Switch", "switch") if name[0] == "S" else ("Ca", "ca")
        about = (
            f" enhanced port 0 lid {self.lid[name]} lmc 0" if guid == "switch" else ""
        )
        text = (
            f"\nvendid=0x2c9\ndevid=0xcb20\nsysimgguid=0x{name[2:]}\n"
            f"{guid}guid=0x{name[2:]}({name[2:]})\n"
            f'{kind}\t40 "{name}"\t\t# "{self.description[name]}"{about}\n'
        )
        for port, (peer, peer_port, rate) in self.ports[name].items():
            own = f"({name[2:]}) " if guid == "ca" else ""
            lid = f"lid {self.lid[name]} lmc 0 " if guid == "ca" else ""
            end = f"({peer[2:]}) " if peer[0] == "H" else ""
            text += (
                f'[{port}]{own}\t"{peer}"[{peer_port}]{end}\t\t'
                f'# {lid}"{self.description[peer]}" lid {self.lid[peer]} {rate}\n'
            )
        return text

    def format_dump(self, order: Iterable[str] | None = None) -> str:
        """Format all devices."""
        head = "#\n# Topology file: generated on Sat Mar  2 11:00:00 2024\n#\n"
        return head + "".join(map(self.format_device, order or self.description))

    def format_tables(self) -> str:
        """Format forwarding tables; of several shortest routes, use the last port's."""
        text = ""
        toward = {a: self.find_ports_toward(a) for a in self.ports if a[0] == "H"}
        for name in self.ports:
            if name[0] != "S":
                continue
            text += (
                f"Unicast lids [0x0-0x{len(self.lid):x}] of switch Lid "
                f"{self.lid[name]} guid 0x{name[2:]} ({self.description[name]}):\n"
                "  Lid  Out   Destination\n       Port     Info \n"
            )
            for adapter, port in toward.items():
                text += (
                    f"0x{self.lid[adapter]:04x} {port[name]:03d} : (Channel Adapter "
                    f"portguid 0x{adapter[2:]}: '{self.description[adapter]}')\n"
                )
            text += f"{len(toward)} valid lids dumped \n"
        return text

    def find_ports_toward(self, end: str) -> dict[str, int]:
        """Map each switch to its last port on a shortest route through switches."""
        hops, queue = {end: 0}, deque([end])
        while queue:
            at = queue.popleft()
            if at[0] == "H" and at != end:
                continue
            for peer, _, _ in self.ports[at].values():
                if peer not in hops:
                    hops[peer] = hops[at] + 1
                    queue.append(peer)
        return {
            name: max(
                port
                for port, (peer, _, _) in ends.items()
                if peer == end or (peer[0] == "S" and hops[peer] < hops[name])
            )
            for name, ends in self.ports.items()
            if name[0] == "S"
        }


def make_fat_tree(
    pod_count: int,
    leaves_per_pod: int,
    hosts_per_leaf: int,
    spines_per_pod: int,
    cores_per_spine: int,
) -> FabricDump:
    """Connect three levels: leaves to all spines of the pod, spines to their cores."""
    fabric = FabricDump()
    top = [
        [fabric.add_switch(f"core{s}-{c}") for c in range(cores_per_spine)]
        for s in range(spines_per_pod)
    ]
    count = 0
    for pod in range(pod_count):
        middle = [
            fabric.add_switch(f"MF0;spine{pod}-{s}:MQM8700/U1")
            for s in range(spines_per_pod)
        ]
        for spine, group in zip(middle, top, strict=True):
            for core in group:
                fabric.add_cable(spine, core)
        for number in range(leaves_per_pod):
            leaf = fabric.add_switch(f"MF0;leaf{pod}-{number}:MQM8700/U1")
            for _ in range(hosts_per_leaf):
                count += 1
                fabric.add_cable(leaf, fabric.add_adapter(f"n{count} mlx5_0"))
            for spine in middle:
                fabric.add_cable(leaf, spine)
    return fabric


@st.composite
def draw_fabric(draw: st.DrawFn) -> FabricDump:
    """Draw a connected fabric: a tree of switches, additional cables, and hosts."""
    fabric = FabricDump()
    rates = st.sampled_from(["4xEDR", "4xHDR", "1xSDR", "4xFDR"])
    switches = [fabric.add_switch("s")]
    for _ in range(draw(st.integers(0, 5))):
        switches.append(fabric.add_switch(f"MF0;s{len(switches)}:X/U1"))
        fabric.add_cable(
            switches[-1], draw(st.sampled_from(switches[:-1])), draw(rates)
        )
    pick = st.sampled_from(switches)
    for _ in range(draw(st.integers(0, 6))):
        a, b = draw(pick), draw(pick)
        if a != b:
            fabric.add_cable(a, b, draw(rates))
    for host in range(draw(st.integers(1, 6))):
        for card in range(draw(st.sampled_from([1, 1, 1, 2]))):
            adapter = fabric.add_adapter(f"n{host} mlx5_{card}")
            for _ in range(draw(st.integers(1, 2))):
                fabric.add_cable(adapter, draw(pick), draw(rates))
    return fabric


def get_device_host(fabric: FabricDump, device: str) -> str:
    return fabric.description[device].split()[0] if device[0] == "H" else device


def count_hops(fabric: FabricDump, start: str) -> dict[str, int]:
    """Count hops; routes cross hosts only if switches do not connect all hosts."""
    beside: dict[str, set[str]] = {}
    for device, ports in fabric.ports.items():
        for peer, _, _ in ports.values():
            beside.setdefault(get_device_host(fabric, device), set()).add(
                get_device_host(fabric, peer)
            )
    hosts = {name for name in beside if name[0] != "S"}

    def search_hops(start: str, through_hosts: bool) -> dict[str, int]:
        hops, queue = {start: 0}, deque([start])
        while queue:
            at = queue.popleft()
            if at != start and at in hosts and not through_hosts:
                continue
            for peer in beside[at] - hops.keys():
                hops[peer] = hops[at] + 1
                queue.append(peer)
        return hops

    joined = any(
        search_hops(switch, False).keys() >= hosts for switch in beside.keys() - hosts
    )
    return search_hops(start, not joined)
