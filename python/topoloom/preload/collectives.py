# SPDX-License-Identifier: BSD-3-Clause
"""Builds libtopoloom-collective and a timing program; parses the library's settings."""

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
from topoloom.support.files import check_writable, prefix_errors, read_text
from topoloom.support.parameter_error import ParameterError
from topoloom.support.resources import find_shipped_folder, require_core_library

#: Options whose value is a file; mpi/collective/settings.c has the same list.
_FILES = {
    "machine": check_machine_file,
    "placement": check_placement_file,
    "decisions": check_decision_table,
}
_SWITCHES = ("report", "learn", "progress")
#: The parameter of `parse_settings`' callers.
_SETTING = "replace_collectives"
OPTIONS = (*_FILES, "schedule", "report", "exchange", "learn", "trace", "progress")

#: Source folders of libtopoloom-collective besides ``mpi/collective``.
_FOLDERS = (
    "mpi/collective/operations",
    *("mpi/errors", "mpi/progress", "mpi/process_map"),
    *("mpi/timing", "mpi/trace"),
)


def build_collective_library(compiler: Path) -> Path:
    """Return libtopoloom-collective for the MPI of `compiler`, compiled if necessary.

    Raises `topoloom.Error` if the compiler fails, or this installation has no
    libtopoloom.
    """
    return build_shim(
        "collective",
        compiler,
        folders=["mpi/preload", *_FOLDERS],
        libraries=[require_core_library()],
        headers=_list_core_headers(),
    )


def build_timing_program(compiler: Path) -> Path:
    """Return the program that times collectives, linked with libtopoloom-collective.

    Raises
    ------
    topoloom.Error
        For the same reasons as `build_collective_library`.
    """
    return build_program(
        "measure",
        compiler,
        folders=["mpi/collective", *_FOLDERS],
        libraries=[require_core_library()],
        headers=_list_core_headers(),
        exclude=["process_map/init_hook.c", "process_map/wait_for_ranks.c"],
    )


def _list_core_headers() -> list[Path]:
    capi = find_shipped_folder("core/topoloom/capi")
    return [capi / name for name in ("topoloom.h", "topoloom_schedules.h")]


def parse_settings(setting: str) -> dict[str, str]:
    """Parse the options of TOPOLOOM_COLLECTIVES; file names become absolute.

    The default of ``report`` is 1 here, as the user expects a summary of this run.

    Raises `topoloom.Error` if an option is unknown, repeated or has an invalid value,
    if the library cannot parse a file, or if a schedule is unknown.
    """
    found: dict[str, str] = {}
    # Commas outside parentheses separate options.
    for option in re.findall(r"(?:\([^)]*\)|[^,(])+", setting):
        name, equals, value = option.partition("=")
        if not equals:
            name, value = "decisions", option
        if name not in OPTIONS:
            raise ParameterError(
                _SETTING, f"has no option '{name}'; there are: {', '.join(OPTIONS)}"
            )
        if name in found:
            raise ParameterError(_SETTING, f"sets '{name}' twice")
        if not value:
            raise ParameterError(_SETTING, f"sets '{name}' to no value")
        if name in _SWITCHES and value not in ("0", "1"):
            raise ParameterError(
                _SETTING, f"must set '{name}' to 0 or 1, not '{value}'"
            )
        found[name] = value
        if name in _FILES:
            found[name] = _check_file(name, value)
        elif name == "trace":
            found[name] = _check_output_file(value)
    found.setdefault("report", "1")
    if "schedule" in found:
        check_schedule_text(found["schedule"])
    return found


def format_settings(options: Mapping[str, str]) -> str:
    """Format options for TOPOLOOM_COLLECTIVES, the inverse of `parse_settings`."""
    return ",".join(f"{name}={value}" for name, value in options.items())


def _check_file(option: str, name: str) -> str:
    file = Path(name).absolute()
    if not file.is_file() or not os.access(file, os.R_OK):
        raise ParameterError(_SETTING, f"names '{name}', which cannot be read")
    text = read_text(file)
    with prefix_errors(name):
        if not text:
            raise Error(f"the file is empty; '{option}' requires a file with content")
        _FILES[option](text)
    return _check_path_characters(file)


def _check_output_file(name: str) -> str:
    check_writable(name)
    return _check_path_characters(Path(name).absolute())


def _check_path_characters(file: Path) -> str:
    if "," in str(file) or "(" in str(file):
        raise ParameterError(
            _SETTING,
            f"names '{file}', which contains a comma or a parenthesis; choose "
            "another path",
        )
    return str(file)
