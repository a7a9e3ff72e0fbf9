# SPDX-License-Identifier: BSD-3-Clause
"""The table of launcher formats. To add a format, add a module and an entry here."""

from __future__ import annotations

import re

from topoloom._core import Error, MachineText
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.exports import (
    bindings,
    bluegene_map,
    flux_taskmap,
    hostfile,
    intel_machinefile,
    jax_devices,
    jsrun_erf,
    mpich_hostfile,
    mpich_rank_order,
    mpich_rankmap,
    openmpi_rankfile,
    pjm_vcoordfile,
    rank_json,
    slot_list,
    slurm_hostfile,
    torchrun,
    torchrun_script,
)
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.hybrid_ranks import bind_to_known_cores
from topoloom.launch.job_outputs import rank_hosts, slurm_environment
from topoloom.launch.rank_location import PlacementFormat
from topoloom.launch.uniform_binding import find_uniform_cpus
from topoloom.support.name_lookup import find_by_name
from topoloom.support.parameter_error import ParameterError

#: The name of a GPU as a node of a machine.
_GPU = re.compile(r"gpu(0|[1-9][0-9]*)")

FORMATS: tuple[ExportFormat, ...] = (
    openmpi_rankfile.FORMAT,
    hostfile.FORMAT,
    mpich_rankmap.FORMAT,
    mpich_hostfile.FORMAT,
    intel_machinefile.FORMAT,
    mpich_rank_order.FORMAT,
    slurm_hostfile.FORMAT,
    flux_taskmap.FORMAT,
    pjm_vcoordfile.FORMAT,
    jsrun_erf.FORMAT,
    bluegene_map.FORMAT,
    torchrun.FORMAT,
    torchrun_script.FORMAT,
    jax_devices.FORMAT,
    rank_json.FORMAT,
    slot_list.FORMAT,
    bindings.FORMAT,
)

#: Formats whose files contain a placement.
READABLE: tuple[PlacementFormat, ...] = (
    *(each for each in FORMATS if each.read is not None),
    rank_hosts.FORMAT,
    slurm_environment.FORMAT,
)


def find_format(name: str) -> ExportFormat:
    """Find a format by name; for an unknown name, the error suggests a similar one."""
    return find_by_name("export format", name, {each.name: each for each in FORMATS})


def require_hosts(target: ExportFormat, placement: HostPlacement) -> None:
    """Raise `topoloom.Error` if a launcher's hosts would be GPUs.

    NCCL's topology files name the GPUs of one host ``gpu0``, ``gpu1`` and so on.
    """
    is_graph = MachineText(placement.machine.text).topology.name == "graph"
    are_gpus = is_graph and all(map(_GPU.fullmatch, placement.hosts))
    if not target.is_for_launchers or not are_gpus:
        return
    able = ", ".join(each.name for each in FORMATS if not each.is_for_launchers)
    raise Error(
        f"{target.name} names hosts, but {placement.hosts[0]} is a GPU; "
        f"export to one of {able}; if it is a host, list the hosts with --hosts"
    )


def bind_hybrid_ranks(target: ExportFormat, placement: HostPlacement) -> HostPlacement:
    """Bind ranks of several cores, if their CPUs are known and the format can."""
    bound = bind_to_known_cores(placement)
    able = target.binds == "ranks" or (
        target.binds == "alike" and find_uniform_cpus(bound) is not None
    )
    return bound if able else placement


def require_sharing_support(target: ExportFormat, placement: HostPlacement) -> None:
    """Raise `topoloom.Error` if ranks share slots that the format cannot express."""
    if target.sharing is None and placement.shares_slots:
        able = ", ".join(each.name for each in FORMATS if each.sharing is not None)
        raise Error(
            f"{target.name} cannot express ranks that share slots; export to one of "
            f"{able}"
        )


def require_binding_support(target: ExportFormat, placement: HostPlacement) -> None:
    """Raise `topoloom.Error` if neither the format nor its command can bind ranks."""
    if placement.bind is None or target.binds == "ranks":
        return
    why = "binds no ranks"
    if target.binds == "alike":
        if find_uniform_cpus(placement) is not None:
            return
        why = "binds the i-th rank of every host to the same CPUs, but these hosts vary"
    formats = ", ".join(each.name for each in FORMATS if each.binds == "ranks")
    raise ParameterError(
        "bind",
        f"{placement.bind}: {target.name} {why}; leave it out, or export to one of "
        f"{formats}",
    )
