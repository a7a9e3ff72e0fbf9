# SPDX-License-Identifier: BSD-3-Clause
"""Reads switch models: the TOML table ``[switch]`` in a switch or machine file.

For example::

    [switch]
    latency = "130 ns"          # through a switch; by default, part of the links'
    virtual_channels = 4        # per class of the routes; voq: 1
    buffer = "32 KiB"           # per virtual channel; by default, as much as needed
    flit = "64 B"
    payload = "4 KiB"           # of a packet
    header = "30 B"
    switching = "cut-through"   # or "wormhole"
    router = "output-queued"    # or "input-queued", "voq"
    routing = "own"             # see `topoloom machine sweep --help`
    arbiter = "age"             # or "round-robin", "random"
    allocator = "islip"         # or "wavefront"; for input-queued and voq switches
    iterations = 1
    injection = "25 GB/s"       # at nodes that are also switches
    units = 5                   # reduction units per output-queued switch
    combining = "2 GB/s"        # per unit; by default, all inputs at full speed
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from topoloom._core import Error, SwitchSettings
from topoloom.support.file_kinds import MACHINE, SWITCH, check_file_kind
from topoloom.support.files import exists
from topoloom.support.name_lookup import suggest
from topoloom.support.resources import find_shipped_folder
from topoloom.support.toml_document import HEADER_KEYS, check_header, read_toml
from topoloom.support.toml_values import (
    check_keys,
    check_quantity,
    check_type,
    get_entry,
)
from topoloom.support.units import parse_bandwidth, parse_bytes, parse_latency

FORMAT = "topoloom-switch"
VERSION = 1
_ABOUT = ("name", "summary", "source", "date")
_NAMES = ("switching", "router", "routing", "arbiter", "allocator")
_COUNTS = ("virtual_channels", "iterations", "units")
_SIZES = ("flit", "payload", "header")
_PARSERS: dict[str, Callable[[str], float]] = {
    "latency": parse_latency,
    "buffer": parse_bytes,
    "injection": parse_bandwidth,
    "combining": parse_bandwidth,
}
#: Bytes per flit for short and for long messages; a packet has 16 flits.
_FLIT, _LONG_FLIT = 64, 256
_FLITS_PER_PACKET = 16
_MAX_BYTES = 1 << 20
_MAX_VCS = 32
#: Minimum size in bytes of messages that use long flits.
_LONG_MESSAGE = 64 * 1024


@dataclass(frozen=True)
class SwitchModel:
    """Parameters of simulated switches, in bytes, seconds and bytes per second."""

    #: Latency through a switch; None: included in the links' latencies.
    latency: float | None = None
    #: Virtual channels per class of routes; None: 4, or for voq 1 per output.
    virtual_channels: int | None = None
    #: Buffer bytes per virtual channel; None: enough to keep the longest link busy.
    buffer: float | None = None
    #: Bytes of a flit, and of a packet's payload. If the flit is None, it has about 64
    #: bytes, or 256 if the largest message has 64 KiB or more. If the payload is None,
    #: a packet has 16 flits including its header.
    flit: int | None = None
    payload: int | None = None
    header: int = 32
    switching: str = "cut-through"
    #: The default `router` and `arbiter` lose the least throughput: `output-queued` has
    #: a buffer for each pair of input and output, and `age` serves the oldest packet
    #: first. With a wavefront allocator or several iterations, the default arbiter is
    #: round-robin.
    router: str = "output-queued"
    routing: str = "own"
    arbiter: str | None = None
    allocator: str = "islip"
    iterations: int = 1
    #: Injection rate of nodes that are also switches; None: the rate of all their
    #: links.
    injection: float | None = None
    #: Reduction units per output-queued switch, and the rate of each unit; None: the
    #: rate of all inputs together.
    units: int = 1
    combining: float | None = None

    def choose_payload_bytes(self, largest: float) -> int:
        """Return the payload bytes per packet, given the largest message in bytes."""
        flit = self._choose_flit_bytes(largest)
        return self.payload or max(_FLITS_PER_PACKET * flit - self.header, flit)

    @property
    def _effective_arbiter(self) -> str:
        takes_turns = self.allocator != "islip" or self.iterations > 1
        return self.arbiter or ("round-robin" if takes_turns else "age")

    def _choose_flit_bytes(self, largest: float) -> int:
        flit = self.flit or (_LONG_FLIT if largest >= _LONG_MESSAGE else _FLIT)
        if self.flit is not None or self.payload is None:
            return flit
        packet = self.payload + self.header
        return math.ceil(packet / max(1, round(packet / flit)))

    def settings(self, classes: int, largest: float) -> SwitchSettings:
        """Make the core's settings for these route classes and this largest message."""
        flit = self._choose_flit_bytes(largest)
        return SwitchSettings(
            vcs=(self.virtual_channels or (1 if self.router == "voq" else 4)) * classes,
            buffer=self.buffer,
            flit=flit,
            payload=self.choose_payload_bytes(largest),
            header=self.header,
            switching=self.switching,
            router=self.router,
            arbiter=self._effective_arbiter,
            allocator=self.allocator,
            iterations=self.iterations,
            switch_latency=self.latency,
            injection=self.injection,
            units=self.units,
            combining=self.combining,
        )


def load_switch(text: str | Path) -> SwitchModel:
    """Load a switch model.

    `text` is a name from `switch_names`, or the path of a TOML file with a
    ``[switch]``. Raises `topoloom.Error` if the name is unknown or the table is
    invalid. Raises `OSError` if the file cannot be read.
    """
    path, name = Path(text), str(text)
    files = _list_switch_files()
    if name in files:
        path = files[name]
    elif not path.suffix and path.name == name and not exists(path):
        raise Error(
            f"no switch '{name}'{suggest(name, files)}; there are: "
            f"{', '.join(files)}; or name a TOML file with a table [switch]"
        )
    check_file_kind(path, SWITCH, MACHINE)
    document = read_toml(path)
    try:
        if document.get("format") == FORMAT:
            check_header(document, FORMAT, VERSION)
            check_keys(document, (*HEADER_KEYS, *_ABOUT, "switch"), "")
        return parse_switch(get_entry(document, "switch", dict, "[switch]"))
    except Error as error:
        raise Error(f"{path}: {error}") from None


def load_machine_switch(machine: str | None) -> SwitchModel | None:
    """Read the ``[switch]`` of a machine's TOML file; None without this table."""
    path = Path(machine or "")
    if path.suffix != ".toml" or "switch" not in read_toml(path):
        return None
    return load_switch(path)


def load_given_or_machine_switch(
    switch: str | None, machine: str | None
) -> SwitchModel | None:
    """Load a switch model by name or file; if None, from the machine's file."""
    return load_machine_switch(machine) if switch is None else load_switch(switch)


def switch_names() -> list[str]:
    """List the switch models that ship with Topoloom."""
    return list(_list_switch_files())


def parse_switch(table: dict[str, Any]) -> SwitchModel:
    """Convert a table ``[switch]``.

    Raises `topoloom.Error` that names the invalid key.
    """
    check_keys(table, (*_NAMES, *_COUNTS, *_SIZES, *_PARSERS), "switch.")
    found: dict[str, Any] = {}
    for key, value in table.items():
        where = f"switch.{key}"
        if key in _NAMES:
            found[key] = check_type(value, str, where)
        elif key in _COUNTS:
            found[key] = check_type(value, int, where)
            if found[key] < 1:
                raise Error(f"{where} must be 1 or more, not {value}")
            if key == "virtual_channels" and found[key] > _MAX_VCS:
                raise Error(f"{where} must be at most {_MAX_VCS}, not {value}")
        elif key in _SIZES:
            found[key] = int(parse_bytes(check_quantity(value, where, parse_bytes)))
            if found[key] < 1 and key != "header":
                raise Error(f"{where} must be a byte or more")
            if found[key] > _MAX_BYTES:
                raise Error(f"{where} must be at most 1 MiB, not {value}")
        else:
            found[key] = _PARSERS[key](check_quantity(value, where, _PARSERS[key]))
            if key == "buffer" and found[key] < 1:
                raise Error(f"{where} must be a byte or more")
    model = replace(SwitchModel(), **found)
    if model.router == "output-queued" and model.switching == "wormhole":
        raise Error(
            "switch.switching: output-queued switches accept only whole packets; "
            "choose cut-through, or router = 'input-queued'"
        )
    model.settings(1, 0)  # Raises if a name is unknown.
    if model.router == "output-queued" and (
        model.allocator != "islip" or model.iterations > 1
    ):
        raise Error(
            "switch.allocator and switch.iterations: output-queued switches have no "
            "allocator; choose router = 'voq'"
        )
    return model


def _list_switch_files() -> dict[str, Path]:
    folder = find_shipped_folder("models") / "switches"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}
