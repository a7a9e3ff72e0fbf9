# SPDX-License-Identifier: BSD-3-Clause
"""The GPU and the network interface that is nearest to each rank."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topoloom._core import Machine
    from topoloom.launch.host_placement import HostPlacement
    from topoloom.nodes.node_parts import Device


def nearest_devices(placement: HostPlacement, kind: str) -> list[str | None]:
    """Name a device of this kind for each rank; None where the nodes have none.

    A device is as far from a slot as the nearest of its own slots. Ranks of a host with
    the same nearest devices share them out evenly, in the order of their slots: ranks
    that sit together have one device.
    """
    devices = [device for device in placement.node.devices if device.kind == kind]
    names: list[str | None] = [None] * placement.rank_count
    if not devices:
        return _gpus_of_rails(placement) if kind == "gpu" else names
    slots = set(placement.slot.tolist())
    nearest = {slot: _nearest(placement.machine, slot, devices) for slot in slots}
    sharing = defaultdict(list)
    for rank in placement.launch_order().tolist():
        near = nearest[int(placement.slot[rank])]
        sharing[int(placement.host[rank]), near].append(rank)
    for (_, near), ranks in sharing.items():
        for index, rank in enumerate(ranks):
            names[rank] = near[index * len(near) // len(ranks)]
    return names


def _gpus_of_rails(placement: HostPlacement) -> list[str | None]:
    """Name the GPU of each rank where a host's nodes are GPUs, else None."""
    machine = placement.machine
    if machine.nodes_per_host == 1:
        return [None] * placement.rank_count
    gpus = placement.slot // machine.slots_per_node
    return [f"cuda{gpu}" for gpu in gpus.tolist()]


def nearest_gpu_numbers(placement: HostPlacement) -> list[int] | None:
    """Return the number of each rank's GPU, 1 for ``cuda1``; None if unknown."""
    names = nearest_devices(placement, "gpu")
    matches = [re.fullmatch(r"[a-z]+([0-9]+)", name or "") for name in names]
    numbers = [int(match[1]) for match in matches if match]
    return numbers if len(numbers) == placement.rank_count else None


def _nearest(machine: Machine, slot: int, devices: list[Device]) -> tuple[str, ...]:
    """Name the devices that no other is nearer than, in their order."""

    def far(device: Device) -> tuple[bool, int]:
        if slot in device.slots:
            return False, 0
        return True, min(machine.distance(slot, other) for other in device.slots)

    distances = [far(device) for device in devices]
    least = min(distances)
    pairs = zip(devices, distances, strict=True)
    return tuple(device.name for device, distance in pairs if distance == least)
