# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a node's CPUs, devices and memory, in machine and placement files.

::

    cpus = ["0,64", "1,65"]             # CPUs of each slot, as numbered by the system
    devices = [
        { name = "cuda0", kind = "gpu", slots = "0-1", numa = 0, pci = "0000:17:00.0" },
    ]
    memory_size = "512 GiB"
    shared = { numa = 24, package = 24 }  # slots of resources that are no levels
"""

from __future__ import annotations

import re
from typing import Any

from topoloom._core import Error
from topoloom.nodes.node_parts import (
    DEVICE_KINDS,
    MAX_CPUS,
    MAX_DEVICES,
    SHARED_RESOURCES,
    Device,
    NodeParts,
)
from topoloom.support.files import prefix_errors
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.number_ranges import compress_ranges, expand_ranges
from topoloom.support.toml_values import check_keys, check_type, get_entry
from topoloom.support.units import format_exact_bytes, parse_bytes

KEYS = ("cpus", "devices", "memory_size", "shared")
_WORD = re.compile(r"[!-~]{1,64}")


def read_parts(
    table: dict[str, Any],
    slots: int,
    names: tuple[str, ...] = (),
    places: int | None = None,
) -> NodeParts:
    """Read and check a node's table; errors begin with ``node.KEY``.

    The levels of the node have `places` for its slots, by default as many as slots.
    """
    cpus = _read_cpus(table["cpus"], slots) if "cpus" in table else ()
    devices: list[Device] = []
    listed = check_type(table.get("devices", []), list, "node.devices")
    if len(listed) > MAX_DEVICES:
        raise Error(f"node.devices names over {MAX_DEVICES} devices")
    for index, given in enumerate(listed):
        where = f"node.devices[{index}]"
        device = _read_device(check_type(given, dict, where), slots, where)
        if any(device.name == earlier.name for earlier in devices):
            raise Error(f"{where}: a duplicate device '{device.name}'")
        devices.append(device)
    return NodeParts(
        names,
        cpus,
        tuple(devices),
        _read_memory_size(table),
        shared=_read_shared(table, slots if places is None else places),
    )


def read_vacant(table: dict[str, Any], places: int, where: str) -> tuple[int, ...]:
    """Read the places of a node's levels that have no slot, such as ``"0,4-5"``."""
    if "vacant" not in table:
        return ()
    key = f"{where}.vacant"
    vacant = _read_ids(get_entry(table, "vacant", str, key), min(places, MAX_CPUS), key)
    if len(vacant) == places:
        raise Error(f"{key} names all {places} places; a node needs a slot")
    return tuple(sorted(vacant))


def write_parts(parts: NodeParts) -> dict[str, Any]:
    """Build the table that `read_parts` reads."""
    table: dict[str, Any] = {}
    if parts.cpus:
        table["cpus"] = [compress_ranges(cpus) for cpus in parts.cpus]
    if parts.devices:
        table["devices"] = [_write_device(device) for device in parts.devices]
    if parts.memory_size:
        table["memory_size"] = format_exact_bytes(parts.memory_size)
    if parts.shared:
        table["shared"] = dict(parts.shared)
    return table


def _read_shared(table: dict[str, Any], slots: int) -> tuple[tuple[str, int], ...]:
    given = check_type(table.get("shared", {}), dict, "node.shared")
    for name, size in given.items():
        if name not in SHARED_RESOURCES:
            raise Error(
                describe_unknown_name(
                    "resource", f"node.shared.{name}", SHARED_RESOURCES
                )
            )
        if type(size) is not int or size < 1 or slots % size:
            raise Error(
                f"node.shared.{name} must be an integer that divides the {slots} slots "
                "of a node"
            )
    return tuple(given.items())


def _read_memory_size(table: dict[str, Any]) -> int:
    if "memory_size" not in table:
        return 0
    text = get_entry(table, "memory_size", str, "node.memory_size")
    with prefix_errors("node.memory_size"):
        size = parse_bytes(text)
    if size == 0:
        raise Error("node.memory_size must be more than 0")
    return size


def _read_cpus(given: Any, slots: int) -> tuple[tuple[int, ...], ...]:
    listed = check_type(given, list, "node.cpus")
    if len(listed) != slots:
        raise Error(
            f"node.cpus has {len(listed)} entries, but a node has {slots} slots"
        )
    owner: dict[int, int] = {}
    cpus = []
    for slot, text in enumerate(listed):
        where = f"node.cpus[{slot}]"
        ids = _read_ids(text, MAX_CPUS, where)
        for cpu in ids:
            if cpu in owner:
                raise Error(f"{where}: CPU {cpu} also belongs to slot {owner[cpu]}")
            owner[cpu] = slot
        cpus.append(ids)
    return tuple(cpus)


def _read_device(table: dict[str, Any], slots: int, where: str) -> Device:
    check_keys(table, ("name", "kind", "slots", "numa", "pci"), f"{where}.")
    name = _read_word(table, "name", where)
    kind = _read_word(table, "kind", where)
    if kind not in DEVICE_KINDS:
        raise Error(
            f"{where}: " + describe_unknown_name("kind of device", kind, DEVICE_KINDS)
        )
    near = _read_ids(
        get_entry(table, "slots", str, f"{where}.slots"),
        min(slots, MAX_CPUS),
        f"{where}.slots",
    )
    numa = get_entry(table, "numa", int, f"{where}.numa") if "numa" in table else None
    if numa is not None and not 0 <= numa < 2**31:
        raise Error(f"{where}.numa must be 0 or more")
    pci = _read_word(table, "pci", where) if "pci" in table else ""
    return Device(name, kind, near, numa, pci)


def _read_word(table: dict[str, Any], key: str, where: str) -> str:
    word: str = get_entry(table, key, str, f"{where}.{key}")
    if not _WORD.fullmatch(word):
        raise Error(f"{where}.{key} must be one word of at most 64 characters")
    return word


def _write_device(device: Device) -> dict[str, Any]:
    table: dict[str, Any] = {"name": device.name, "kind": device.kind}
    table["slots"] = compress_ranges(device.slots)
    if device.numa is not None:
        table["numa"] = device.numa
    if device.pci:
        table["pci"] = device.pci
    return table


def _read_ids(given: Any, count: int, where: str) -> tuple[int, ...]:
    text = check_type(given, str, where).replace(" ", "")
    with prefix_errors(where):
        return expand_ranges(text, count)
