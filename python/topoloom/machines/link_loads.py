# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes link loads as JSON: the bytes over each link, by link id."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error, Machine
from topoloom.support.file_kinds import LOADS, check_file_kind
from topoloom.support.files import prefix_errors, read_text, write_text
from topoloom.support.json_values import get_value, parse_document

FORMAT = "topoloom-loads"
VERSION = 1

Loads = NDArray[np.float64]


def save_link_loads(path: str | Path, machine: Machine, loads: Loads) -> None:
    """Write the bytes over each link, such as `Judgement.loads`, atomically."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "machine": machine.text,
        "loads": [int(load) if load.is_integer() else load for load in loads.tolist()],
    }
    write_text(path, json.dumps(document) + "\n")


def load_link_loads(path: str | Path, machine: Machine) -> Loads:
    """Read the bytes over each link of this machine.

    Raises `topoloom.Error` if loads are invalid or belong to another machine.
    """
    check_file_kind(path, LOADS)
    text = read_text(path)
    with prefix_errors(path):
        document = parse_document(text, FORMAT, VERSION)
        check_machine_text(get_value(document, "machine", str), machine)
        loads = get_value(document, "loads", list)
        if len(loads) != machine.link_count:
            raise Error(
                f"{len(loads)} loads for the {machine.link_count} links of "
                f"{machine.text}"
            )
        for link, load in enumerate(loads):
            if type(load) not in (int, float) or not 0 <= load <= 2**52:
                raise Error(f"loads[{link}] is {load!r}, expected bytes, 0 to 2^52")
        return np.array(loads, dtype=np.float64)


def check_machine_text(found: str, machine: Machine) -> None:
    """Raise an error if a file belongs to another machine, whose link ids differ."""
    if found != machine.text:
        raise Error(f"is for {found}, not for {machine.text}")
