# SPDX-License-Identifier: BSD-3-Clause
"""Finds the GPU and the NIC nearest to each rank."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from topoloom.nodes.host_slot_numbers import HostSlotNumbers

if TYPE_CHECKING:
    from topoloom._core import Machine
    from topoloom.launch.host_placement import HostPlacement
    from topoloom.nodes.node_parts import Device


def nearest_devices(placement: HostPlacement, kind: str) -> list[str | None]:
    """Choose a device of this kind for each rank; None if the rank's node has none.

    The distance of a device is the distance to the nearest slot to which it is
    attached. If ranks of a host have the same nearest devices, these are divided evenly
    among the ranks. The order is that of slots, so that neighboring ranks share a
    device.
    """
    names: list[str | None] = [None] * placement.rank_count
    known = (part for parts in placement.parts_of_host for part in parts.devices)
    if not any(device.kind == kind for device in known):
        return _list_rail_gpus(placement) if kind == "gpu" else names
    slots_of = HostSlotNumbers(placement.machine, placement.node)
    numbers = placement.nodes // placement.machine.nodes_per_host
    nearest: dict[tuple[int, int], tuple[str, ...]] = {}
    sharing = defaultdict(list)
    for rank in placement.launch_order().tolist():
        host, slot = int(placement.host[rank]), int(placement.slot[rank])
        parts = placement.parts_of_host[host]
        devices = [device for device in parts.devices if device.kind == kind]
        if not devices:
            continue
        if (id(parts), slot) not in nearest:
            global_slot = partial(slots_of.global_slot, int(numbers[host]))
            nearest[id(parts), slot] = _list_nearest_devices(
                placement.machine, global_slot, slot, devices
            )
        sharing[host, nearest[id(parts), slot]].append(rank)
    for (_, near), ranks in sharing.items():
        for index, rank in enumerate(ranks):
            names[rank] = near[index * len(near) // len(ranks)]
    return names


def _list_rail_gpus(placement: HostPlacement) -> list[str | None]:
    """Return the GPU of each rank in a rail network (nodes are GPUs), else None."""
    machine = placement.machine
    if machine.nodes_per_host == 1:
        return [None] * placement.rank_count
    gpus = placement.slot // machine.slots_per_node
    return [f"cuda{gpu}" for gpu in gpus.tolist()]


def has_known_gpus(placement: HostPlacement) -> bool:
    """Return whether the machine names GPUs of the hosts."""
    return any(
        device.kind == "gpu"
        for parts in placement.parts_of_host
        for device in parts.devices
    )


def list_nearest_gpu_numbers(placement: HostPlacement) -> list[int] | None:
    """Return the number of each rank's nearest GPU (1 for ``cuda1``), or None."""
    names = nearest_devices(placement, "gpu")
    matches = [re.fullmatch(r"[a-z]+([0-9]+)", name or "") for name in names]
    numbers = [int(match[1]) for match in matches if match]
    return numbers if len(numbers) == placement.rank_count else None


def _list_nearest_devices(
    machine: Machine,
    global_slot: Callable[[int], int],
    slot: int,
    devices: list[Device],
) -> tuple[str, ...]:
    """List the nearest devices; `global_slot` maps local slots to global slots."""
    here = global_slot(slot)

    def measure_distance(device: Device) -> tuple[bool, int]:
        if slot in device.slots:
            return False, 0
        return True, min(machine.distance(here, global_slot(s)) for s in device.slots)

    distances = [measure_distance(device) for device in devices]
    least = min(distances)
    pairs = zip(devices, distances, strict=True)
    return tuple(device.name for device, far in pairs if far == least)
