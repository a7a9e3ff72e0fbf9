# SPDX-License-Identifier: BSD-3-Clause
"""Reads the cores of this node from ``/sys/devices/system``, without hwloc."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from topoloom.importers.system.devices import CLASSES, read_devices
from topoloom.importers.system.sysfs import read_cpu_mask, read_word
from topoloom.nodes.core_shape import Container
from topoloom.nodes.node_levels import NodeCores

SYSTEM = Path("/sys/devices/system")
#: kind -> name of its file in a CPU's directory, since Linux 5.3 and before that
_TOPOLOGY = {
    "Package": ("package_cpus_list", "core_siblings_list"),
    "Die": ("die_cpus_list",),
}
_CORE = ("core_cpus_list", "thread_siblings_list")
_CACHES = {"2": "L2Cache", "3": "L3Cache"}
#: Nesting order of resources, outermost first.
_NESTING = ("Package", "Die", "NUMANode", "L3Cache", "L2Cache")


def read_sysfs_node(
    cpus: Iterable[int], system: Path = SYSTEM, classes: Path = CLASSES
) -> NodeCores:
    """Read the cores that contain these CPUs, with their resources and devices.

    If the system reports no cores, as in some containers, each CPU is a core.
    """
    wanted = sum(1 << cpu for cpu in set(cpus))
    domains = [read_cpu_mask(file) for file in system.glob("node/node[0-9]*/cpulist")]
    containers: set[Container] = set()
    cores: dict[int, tuple[int, ...]] = {}
    for cpu in sorted(set(cpus)):
        home = system / "cpu" / f"cpu{cpu}"
        shared = _read_shared_resources(home)
        shared["NUMANode"] = next((mask for mask in domains if mask >> cpu & 1), 0)
        containers.update(Container(kind, m) for kind, m in shared.items() if m)
        core = (_read_first_of(home / "topology", _CORE) or 1 << cpu) & wanted
        place = [shared.get(kind, 0) for kind in _NESTING]
        cores.setdefault(core, (*(mask & -mask for mask in place), core & -core))
    ordered = sorted(cores, key=lambda core: cores[core])
    inside = NodeCores(ordered, sorted(containers), read_devices(classes))
    return inside.classify_nics().restrict_to(wanted)


def _read_shared_resources(home: Path) -> dict[str, int]:
    topology = home / "topology"
    shared = {
        kind: _read_first_of(topology, names) for kind, names in _TOPOLOGY.items()
    }
    for cache in home.glob("cache/index[0-9]*"):
        kind = _CACHES.get(read_word(cache / "level"))
        if kind is not None and read_word(cache / "type") != "Instruction":
            shared[kind] = read_cpu_mask(cache / "shared_cpu_list")
    return shared


def _read_first_of(directory: Path, names: Iterable[str]) -> int:
    return next(
        (mask for name in names if (mask := read_cpu_mask(directory / name))), 0
    )
