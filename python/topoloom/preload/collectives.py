# SPDX-License-Identifier: BSD-3-Clause
"""libtopoloom-collective in front of the MPI of a program, or in one that times it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from topoloom._core import (
    Error,
    check_decision_table,
    check_machine_file,
    check_placement_file,
    check_schedule_text,
)
from topoloom.preload.shim import build_program, build_shim
from topoloom.support.files import check_writable, named, read_text
from topoloom.support.resources import need_core_library, shipped

#: Of mpi/collective/settings.c.
_FILES = {
    "machine": check_machine_file,
    "placement": check_placement_file,
    "decisions": check_decision_table,
}
_SWITCHES = ("report", "learn", "progress")
_OPTIONS = (*_FILES, "schedule", "report", "exchange", "learn", "trace", "progress")

#: What libtopoloom-collective is made of, beside ``mpi/collective``.
_ROOMS = (
    "mpi/collective/operations",
    *("mpi/errors", "mpi/progress", "mpi/seats"),
    *("mpi/timing", "mpi/trace"),
)


def build_collectives(compiler: Path) -> Path:
    """Return libtopoloom-collective for the MPI of `compiler`, compiled if need be.

    Raises
    ------
    topoloom.Error
        If the compiler fails, or this installation has no libtopoloom.
    """
    return build_shim(
        "collective",
        compiler,
        folders=["mpi/preload", *_ROOMS],
        libraries=[need_core_library()],
        headers=_core_headers(),
    )


def build_measurement(compiler: Path) -> Path:
    """Return the program that times collectives, with libtopoloom-collective in it.

    Raises
    ------
    topoloom.Error
        As `build_collectives`.
    """
    return build_program(
        "measure",
        compiler,
        folders=["mpi/collective", *_ROOMS],
        libraries=[need_core_library()],
        headers=_core_headers(),
        leave_out=["seats/start.c"],
    )


def _core_headers() -> list[Path]:
    capi = shipped("core/topoloom/capi")
    return [capi / name for name in ("topoloom.h", "topoloom_schedules.h")]


def read_setting(setting: str) -> dict[str, str]:
    """Read the options of a TOPOLOOM_COLLECTIVES; files get their absolute names.

    Raises
    ------
    topoloom.Error
        If an option is unknown, given twice or without what it can be, a file cannot be
        read or is not what the library reads, or there is no such schedule.
    """
    found: dict[str, str] = {}
    # Options end at a semicolon outside of parentheses.
    for option in re.findall(r"(?:\([^)]*\)|[^;(])+", setting):
        name, equals, value = option.partition("=")
        if not equals:
            name, value = "decisions", option
        if name not in _OPTIONS:
            raise Error(
                f"--replace-collectives has no option '{name}'; there are: "
                + ", ".join(_OPTIONS)
            )
        if name in found:
            raise Error(f"--replace-collectives gives '{name}' twice")
        if not value:
            raise Error(f"--replace-collectives gives '{name}' no value")
        if name in _SWITCHES and value not in ("0", "1"):
            raise Error(f"--replace-collectives: '{name}' is 0 or 1, not '{value}'")
        found[name] = value
        if name in _FILES:
            found[name] = _checked_file(name, value)
        elif name == "trace":
            found[name] = _written_file(value)
    if "schedule" in found:
        check_schedule_text(found["schedule"])
    return found


def write_setting(options: Mapping[str, str]) -> str:
    """Write what `read_setting` reads."""
    return ";".join(f"{name}={value}" for name, value in options.items())


def _checked_file(option: str, name: str) -> str:
    file = Path(name).absolute()
    if not file.is_file() or not os.access(file, os.R_OK):
        raise Error(f"--replace-collectives: cannot read '{name}'")
    text = read_text(file)
    with named(name):
        if not text:
            raise Error(f"the file is empty; '{option}' needs one with content")
        _FILES[option](text)
    return _nameable(file)


def _written_file(name: str) -> str:
    check_writable(name)
    return _nameable(Path(name).absolute())


def _nameable(file: Path) -> str:
    if ";" in str(file) or "(" in str(file):
        raise Error(
            f"--replace-collectives: '{file}' has a semicolon or a parenthesis; name "
            "another file"
        )
    return str(file)
