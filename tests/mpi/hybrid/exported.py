# SPDX-License-Identifier: BSD-3-Clause
"""Commands that start a case, as `topoloom export` prints or `topoloom run` builds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hybrid.cases import Case

from topoloom import Error
from topoloom.cli.suggested_command import insert_file_name
from topoloom.launch.exports.launch_formats import (
    bind_hybrid_ranks,
    find_format,
    require_binding_support,
    require_sharing_support,
)
from topoloom.launch.launchers.launcher_commands import read_command
from topoloom.tasks.launch_placement import load_host_placement


class StartCommand(NamedTuple):
    """A command, its environment, and whether it promises the cores of each rank."""

    words: list[str]
    keeps_cores: bool
    environment: Mapping[str, str] = MappingProxyType({})


def export_case(
    case: Case, target: str, hosts: Sequence[str], folder: Path, program: Path
) -> StartCommand | None:
    """Export a case to a file in `folder`; None if the format refuses it."""
    case.save(folder / "x.json", hosts)
    entry = find_format(target)
    placed = load_host_placement(folder / "x.json", None, 1, case.bind)
    placed = bind_hybrid_ranks(entry, placed)
    try:
        require_binding_support(entry, placed)
        require_sharing_support(entry, placed)
        text = entry.write(placed)
    except Error:
        return None
    path = folder / "exported"
    path.write_text(text)
    usage = insert_file_name(path, entry.format_usage_command(placed))
    command = usage.partition("   (PALS")[0].replace("./app", str(program))
    return StartCommand(["sh", "-c", command], entry.find_loss(placed) is None)


def apply_case(
    case: Case, command: Sequence[str], hosts: Sequence[str], folder: Path
) -> StartCommand:
    """Change a launcher's command as `topoloom run` does."""
    case.save(folder / "x.json", hosts)
    placed = load_host_placement(folder / "x.json", None, 1, case.bind)
    launch = read_command(command).apply(placed, folder)
    return StartCommand(launch.command, launch.loss is None, launch.environment)
