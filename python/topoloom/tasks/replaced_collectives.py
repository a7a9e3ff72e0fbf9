# SPDX-License-Identifier: BSD-3-Clause
"""Provides the settings of libtopoloom-collective for a placed program."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from topoloom.placements.placement_file import PlacementFile, save_placement
from topoloom.preload.collectives import format_settings
from topoloom.support.files import make_shared_directory, read_text, write_text


@contextlib.contextmanager
def provide_collectives_setting(
    options: Mapping[str, str] | None, placed: PlacementFile, renumbered: bool
) -> Iterator[str | None]:
    """Yield the value of TOPOLOOM_COLLECTIVES for a placed program, or None.

    Unless `options` contains a placement or a machine, the job's placement and machine
    are added, in files that exist within the context. A ``machine`` option whose file
    has only message costs is merged into the machine. In a `renumbered` program, the
    library uses the launcher's rank numbers, so that ranks are located only by host
    name.
    """
    if options is None:
        yield None
        return
    costs = read_text(options["machine"]) if "machine" in options else ""
    if (
        not _has_known_routes(placed)
        or "placement" in options
        or _contains_machine(costs)
    ):
        yield format_settings(options)
        return
    by_host = placed.hosts is not None and placed.machine.nodes_per_host == 1
    if renumbered and not by_host:
        yield format_settings(options)
        return
    with make_shared_directory("collectives") as name:
        folder = Path(name).absolute()
        if set(";(") & set(str(folder)):  # not allowed in settings
            yield format_settings(options)
            return
        machine, placement = folder / "machine", folder / "placement"
        write_text(machine, f"{_format_machine(placed, by_host)}{costs}")
        files = {"machine": str(machine)}
        if not renumbered:
            save_placement(placement, placed)
            files["placement"] = str(placement)
        yield format_settings({**options, **files})


def _has_known_routes(placed: PlacementFile) -> bool:
    machine = placed.machine
    return machine.has_bandwidths or machine.link_count == 0


def _contains_machine(text: str) -> bool:
    words = (line.split() for line in text.splitlines())
    return any(line[0] in ("machine", "node") for line in words if line)


def _format_machine(placed: PlacementFile, by_host: bool) -> str:
    """Format the machine; if `by_host`, also the node of each host."""
    lines = [f"machine {placed.machine.text}\n"]
    if by_host and placed.hosts is not None:
        nodes = placed.allocation.nodes.tolist()
        lines += [
            f"node {node} {host}\n"
            for node, host in zip(nodes, placed.hosts, strict=True)
        ]
    return "".join(lines)
