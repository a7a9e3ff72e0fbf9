# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of several cores: their threads, and the binding that they need."""

from __future__ import annotations

import os
from dataclasses import replace

from topoloom.launch.command_line import CommandLine
from topoloom.launch.host_placement import CORE, HostPlacement


def list_thread_variables(placement: HostPlacement, is_bound: bool) -> dict[str, str]:
    """List OpenMP's variables for ranks of several cores; none for ranks of one.

    Threads are pinned only if ranks are bound to cores of their own. Otherwise the
    threads of all ranks of a host would be pinned to its first cores.
    """
    if placement.cores_per_rank == 1:
        return {}
    variables = {"OMP_NUM_THREADS": str(placement.cores_per_rank)}
    if is_bound and not placement.shares_slots:
        variables["OMP_PLACES"] = "cores"
    return variables


def find_thread_settings(
    placement: HostPlacement, is_bound: bool, command: CommandLine
) -> dict[str, str]:
    """List OpenMP's variables for a command; the user's own settings take precedence.

    Settings in the environment are passed on to all hosts, and options are left alone.
    """
    return {
        name: os.environ.get(name, value)
        for name, value in list_thread_variables(placement, is_bound).items()
        if not command.is_set({name})
    }


def bind_to_known_cores(placement: HostPlacement) -> HostPlacement:
    """Bind ranks of several cores to them, if their CPUs are known.

    Launchers bind such ranks anyway, but some of them to other cores than placed.
    """
    if (
        placement.bind is not None
        or placement.slots_per_rank == 1
        or not all(parts.cpus for parts in placement.parts_of_host)
    ):
        return placement
    return replace(placement, bind=CORE)
