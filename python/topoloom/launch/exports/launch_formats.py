# SPDX-License-Identifier: BSD-3-Clause
"""The table of launcher formats: one file each, one line here."""

from __future__ import annotations

import shlex
from typing import Protocol

from topoloom._core import Error
from topoloom.launch.alike import (
    bound_alike,
    flux_affinity,
    srun_cpu_bind,
    srun_gpu_bind,
)
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
from topoloom.launch.host_placement import PU, HostPlacement
from topoloom.launch.torus_box import dimensions, torus_box
from topoloom.support.nearest import unknown_name
from topoloom.support.units import counted


class LaunchFormat(Protocol):
    """What the file of a format defines."""

    NAME: str
    SUMMARY: str
    USE: str  # the command that reads it

    def keeps_slots(self, placement: HostPlacement) -> bool:
        """Whether each rank gets its slot, and not just its host."""

    def write(self, placement: HostPlacement) -> str:
        """Write the placement, or raise `topoloom.Error` if the format cannot."""


FORMATS: tuple[LaunchFormat, ...] = (
    openmpi_rankfile,
    hostfile,
    mpich_rankmap,
    mpich_hostfile,
    intel_machinefile,
    mpich_rank_order,
    slurm_hostfile,
    flux_taskmap,
    pjm_vcoordfile,
    jsrun_erf,
    bluegene_map,
    torchrun,
    torchrun_script,
    jax_devices,
    rank_json,
    slot_list,
    bindings,
)


def find_format(name: str) -> LaunchFormat:
    """Find a format by name; raise `topoloom.Error` naming the nearest one."""
    for entry in FORMATS:
        if name == entry.NAME:
            return entry
    raise Error(unknown_name("export format", name, [entry.NAME for entry in FORMATS]))


def use(entry: LaunchFormat, placement: HostPlacement) -> str:
    """Write the command that uses an exported file, for this placement."""
    counts = placement.ranks_per_host()
    binds = {"cpu": srun_cpu_bind(placement), "gpu": srun_gpu_bind(placement)}
    return entry.USE.format(
        ranks=placement.rank_count,
        nodes=int((counts > 0).sum()),
        ranks_per_node=int(counts.max(initial=0)),
        hosts=",".join(placement.hosts) if len(placement.hosts) <= 4 else "HOSTS",
        first_host=placement.name(0),
        threads="--use-hwthread-cpus " if placement.bind == PU else "",
        hwtcpus=":hwtcpus" if placement.bind == PU else "",
        srun_bind="".join(f"--{on}-bind={to} " for on, to in binds.items() if to),
        flux_affinity="".join(f"{shlex.quote(o)} " for o in flux_affinity(placement)),
        shape=_shape(placement) if "{shape}" in entry.USE else "",
    )


def _shape(placement: HostPlacement) -> str:
    return dimensions(torus_box(placement, "")[0])


#: formats that name the CPUs of every rank
_NAME_CPUS = (
    openmpi_rankfile,
    mpich_hostfile,
    intel_machinefile,
    jsrun_erf,
    rank_json,
    bindings,
)
#: formats whose command binds the i-th rank of every host alike
_BIND_ALIKE = (slurm_hostfile, flux_taskmap)


def refuse_lost_binding(entry: LaunchFormat, placement: HostPlacement) -> None:
    """Refuse to leave out what ranks are to be bound to.

    Raises
    ------
    topoloom.Error
        If ranks are to be bound, and neither the format nor its command can say that.
    """
    if placement.bind is None or entry in _NAME_CPUS:
        return
    why = "binds no ranks"
    if entry in _BIND_ALIKE:
        if bound_alike(placement) is not None:
            return
        why = "binds the i-th rank of every host to the same CPUs, but these hosts vary"
    formats = ", ".join(each.NAME for each in _NAME_CPUS)
    raise Error(
        f"--bind {placement.bind}: {entry.NAME} {why}; leave out --bind, or export to "
        f"one of {formats}"
    )


def relies_on(entry: LaunchFormat) -> str | None:
    """Say in one sentence what the launcher must do to keep the order, if anything."""
    return torchrun.RELIES_ON if entry in (torchrun, torchrun_script) else None


def what_is_lost(entry: LaunchFormat, placement: HostPlacement) -> str | None:
    """Say in one sentence what of the placement the format leaves out, if anything."""
    on_rails = placement.machine.nodes_per_host > 1
    if on_rails and not placement.node.cpus and entry is openmpi_rankfile:
        return (
            f"{entry.NAME} names cores, not GPUs: the slots of a host are its GPUs, "
            "and each is written as "
            f"{counted(placement.cores_per_slot, 'core')} (--cores-per-slot); "
            "torchrun, bindings and json name GPUs"
        )
    if entry.keeps_slots(placement):
        return None
    if on_rails:
        return (
            f"{entry.NAME} names hosts, not GPUs: each rank is on its host, but the "
            "ranks of a host take its GPUs one after the other; torchrun, bindings and "
            "json name GPUs"
        )
    return (
        f"{entry.NAME} names hosts, not cores: each rank is on its host, but the ranks "
        "of a host take its cores one after the other; openmpi-rankfile names cores"
    )
