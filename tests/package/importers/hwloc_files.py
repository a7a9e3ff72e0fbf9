# SPDX-License-Identifier: BSD-3-Clause
"""hwloc XML for tests: a real machine, uniform machines, and machines with devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
)

#: lstopo 2.9 on a virtual machine; some attributes are omitted.
VIRTUAL = (Path(__file__).parent / "data/virtual_machine.xml").read_text()


@dataclass
class UniformTopology:
    """A uniform hwloc topology, given by object kinds and counts from the top."""

    levels: list[tuple[str, int]]
    #: the kinds of objects that have a NUMA node as a memory child
    memory: str = ""
    pus: int = 1
    lines: list[str] = field(default_factory=list)
    next_pu: int = 0

    def format_xml(self) -> str:
        """Return the topology as XML."""
        self.lines, self.next_pu = ['<topology version="2.0">'], 0
        self._add_object("Machine", self.levels)
        return HEAD + "\n".join([*self.lines, "</topology>"])

    def _add_object(self, kind: str, below: list[tuple[str, int]]) -> None:
        first, place = self.next_pu, len(self.lines)
        self.lines.append("")
        if kind == "Core":
            for _ in range(self.pus):
                cpuset = format_mask(1 << self.next_pu)
                self.lines.append(
                    f'<object type="PU" os_index="{self.next_pu}" cpuset="{cpuset}"/>'
                )
                self.next_pu += 1
        elif below:
            (inner, count), *rest = below
            for _ in range(count):
                self._add_object(inner, rest)
        cpuset = format_mask((1 << self.next_pu) - (1 << first))
        self.lines[place] = f'<object type="{kind}" cpuset="{cpuset}">'
        if kind == self.memory:
            self.lines[place] += f'<object type="NUMANode" cpuset="{cpuset}"/>'
        self.lines.append("</object>")


def format_mask(mask: int) -> str:
    """Format a mask as hwloc does: 32-bit words; some zero words are empty."""
    parts = []
    while mask or not parts:
        parts.append(f"0x{mask & 0xFFFFFFFF:08x}" if mask & 0xFFFFFFFF else "")
        mask >>= 32
    return ",".join(reversed(parts)) or "0x0"


def format_pci_device(*names: tuple[str, int], address: str = "17:00.0") -> str:
    """Format a PCI device below two bridges, with its operating-system names."""
    parts = "".join(
        f'<object type="OSDev" name="{name}" osdev_type="{kind}"/>'
        for name, kind in names
    )
    bridge = '<object type="Bridge" bridge_type="1-1">'
    device = f'<object type="PCIDev" pci_busid="0000:{address}">'
    return f"{bridge}{bridge}{device}{parts}</object></object></object>"


def format_two_packages(
    first_devices: str, second_devices: str, other_devices: str = "", version: str = "2"
) -> str:
    """Format two packages of two cores with two threads each, and their devices."""
    lines = []
    for package, devices in enumerate((first_devices, second_devices)):
        mask = 0x33 << 2 * package
        lines.append(f'<object type="Package" cpuset="{mask:#x}">')
        lines.append(
            f'<object type="NUMANode" os_index="{package + 4}" cpuset="{mask:#x}"/>'
        )
        for core in (2 * package, 2 * package + 1):
            lines.append(f'<object type="Core" cpuset="{0x11 << core:#x}">')
            for pu in (core, core + 4):
                lines.append(f'<object type="PU" os_index="{pu}" ')
                lines.append(f'cpuset="{1 << pu:#x}"/>')
            lines.append("</object>")
        lines.append(devices + "</object>")
    body = "".join(lines)
    return (
        f'{HEAD}<topology version="{version}.0"><object type="Machine" cpuset="0xff">'
        f"{body}{other_devices}</object></topology>"
    )


LEVELS = st.tuples(
    st.lists(st.sampled_from(["Group"]), max_size=1),
    st.lists(st.sampled_from(["Package"]), max_size=1),
    st.lists(st.sampled_from(["Die", "Group"]), max_size=2),
    st.lists(st.sampled_from(["L3Cache"]), max_size=1),
    st.lists(st.sampled_from(["L2Cache"]), max_size=1),
).map(lambda lists: [kind for kinds in lists for kind in kinds] + ["Core"])


@st.composite
def draw_topology(draw: st.DrawFn) -> UniformTopology:
    kinds = draw(LEVELS)
    levels = [(kind, draw(st.integers(1, 3))) for kind in kinds]
    memory = draw(st.sampled_from(["", "Machine", *kinds[:-1]]))
    return UniformTopology(levels, memory, draw(st.integers(1, 2)))
