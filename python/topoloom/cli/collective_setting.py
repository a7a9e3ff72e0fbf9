# SPDX-License-Identifier: BSD-3-Clause
"""The setting of `topoloom collective`: costs of messages, and where the ranks are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from topoloom.schedules.choose import Call


class Setting(NamedTuple):
    """What messages cost, where the ranks are, and what that is called."""

    model: Any
    sites: Any
    model_name: str
    machine_name: str
    machine_title: str = ""  # the machine as the user calls it
    hosts: Any = None
    node: Any = None
    unused: str = ""  # what of a larger allocation the launcher would use, in words


def read_setting(
    call: Call, model: str | None, machine: str | None, where: Any, placement: Any
) -> Setting:
    """Read what messages cost and where the ranks are; refuse what is incomplete."""
    from topoloom._core import Error
    from topoloom.model.named import load_model
    from topoloom.tasks.problem import Where

    found = load_model(model).model if model is not None else None
    if machine is not None and placement is not None:
        raise Error(
            "--machine and --placement are mutually exclusive; the file has both"
        )
    if machine is None and where._replace(seed=1) != Where():
        raise Error(
            "--allocation, --allocate, --ranks-per-node and the like say where on a "
            "machine the ranks are; name a --machine"
        )
    if machine is None and placement is None:
        if found is None:
            raise Error(
                "what a message costs is not known; name a --model (see 'topoloom "
                "model list') or a --machine"
            )
        return Setting(found, None, model or "", "")
    given = "of the machine" if model is None else model
    if placement is not None:
        setting = _placed(call, found, given, placement)
    else:
        setting = _on_machine(call, found, given, machine or "", where)
    _check_speeds(setting)
    return setting


def _check_speeds(setting: Setting) -> None:
    """Refuse a machine whose links or ports would count as 1 B/s or as no time."""
    from topoloom._core import Error
    from topoloom.machines.node_toml import write_port

    machine = setting.sites.allocation.machine
    if machine.link_count and not machine.has_bandwidths:
        raise Error(
            f"the links of {machine.name} have no bandwidth; add one, as in "
            "torus:8x8x8,bandwidth=10GB/s"
        )
    if setting.model is None and "startup" not in write_port(machine):
        raise Error(
            f"what a message takes to start on {machine.name} is not known; add "
            "--model (see 'topoloom model list') or +node:...,startup=1us"
        )


def _placed(call: Call, model: Any, name: str, placement: Path) -> Setting:
    from topoloom._core import Error
    from topoloom.placements.placement_file import load_placement
    from topoloom.schedules.choose import RankSlots

    file = load_placement(placement)
    if len(file.placement.slots) != call.ranks:
        raise Error(
            f"{placement} places {len(file.placement.slots)} ranks, not {call.ranks}; "
            f"say --ranks {len(file.placement.slots)}"
        )
    sites = RankSlots(file.allocation, file.placement)
    there = file.allocation.machine
    return Setting(model, sites, name, there.text, there.name, file.hosts, file.node)


def _on_machine(call: Call, model: Any, name: str, machine: str, where: Any) -> Setting:
    from topoloom._core import CommGraph
    from topoloom.machines.machine_file import load_described
    from topoloom.schedules.choose import RankSlots
    from topoloom.tasks.problem import (
        check_fit,
        choose_allocation,
        launched,
        launcher_default,
    )

    the_machine, described = load_described(machine)
    given = choose_allocation(the_machine, described, where)
    silent = CommGraph.from_edges(call.ranks, [], [], [])
    check_fit(silent, given.allocation, f"the {call.operation}")
    at, unused = launched(given, described, where, call.ranks)
    sites = RankSlots(at.allocation, launcher_default(silent, at.allocation))
    return Setting(
        model, sites, name, the_machine.text, machine, at.hosts, described.node, unused
    )
