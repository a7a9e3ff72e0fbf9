# SPDX-License-Identifier: BSD-3-Clause
"""Options of srun for ranks of several cores, as Slurm 22.05 applies them.

Slurm's CPUs are hardware threads where nodes have several per core, so ``-c`` counts
these. Within a node, ``-m arbitrary`` always distributes the ranks round-robin over the
sockets; it accepts no second distribution. ``-m block:block`` fills them in order.
"""

from __future__ import annotations

import os

import numpy as np

from topoloom.launch.command_line import CommandLine
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.uniform_binding import (
    find_uniform_cpus,
    find_uniform_gpus,
    make_cpu_mask,
)

BINDING = frozenset({"cpu-bind"})
#: With these, a step has only some CPUs of its nodes, so ranks cannot choose theirs.
CORES = frozenset({"c", "cpus-per-task"})
#: One hardware thread per core: ``-c`` then counts cores on every node.
COUNT_CORES = "--hint=nomultithread"


def list_core_options(placement: HostPlacement) -> list[str]:
    """List the options that give each rank its cores; none for ranks of one core.

    Slurm would divide the cores among ranks that share them, so these are not bound.
    """
    if placement.cores_per_rank == 1:
        return []
    if placement.shares_slots:
        return ["--cpu-bind=none"]
    cpus = placement.cpus_per_rank()
    if cpus is None:
        return ["-c", str(placement.cores_per_rank), COUNT_CORES]
    return ["-c", str(cpus)]


def find_core_options(command: CommandLine, placement: HostPlacement) -> list[str]:
    """List the options that give each rank its cores, unless the command has some."""
    if command.is_set(CORES | BINDING):
        return []
    options = list_core_options(placement)
    if counts_cores(command) and "-c" in options:
        return ["-c", str(placement.cores_per_rank)]
    if command.is_set({"hint", "threads-per-core"}):  # which exclude each other
        return [option for option in options if option != COUNT_CORES]
    return options


def counts_cores(command: CommandLine) -> bool:
    """Return whether ``-c`` counts cores, by an option or a variable of Slurm.

    With an option for the number of threads or a hint, variables have no effect.
    """
    given = command.find_options({"hint", "threads-per-core"})
    if given:
        return given[-1].values[0] in ("1", "nomultithread")
    return (
        os.environ.get("SLURM_THREADS_PER_CORE") == "1"
        or os.environ.get("SLURM_HINT") == "nomultithread"
    )


def is_block_distribution(placement: HostPlacement) -> bool:
    """Return whether ``-m block``, which spreads ranks evenly, gives these counts."""
    counts = placement.ranks_per_host()
    used = counts[counts > 0]
    least, more = divmod(placement.rank_count, max(len(used), 1))
    return bool(np.array_equal(used, least + (np.arange(len(used)) < more)))


def list_block_options(placement: HostPlacement) -> list[str]:
    """List the options that fill one node after the other, only the last one partly.

    If the last node has far fewer ranks, Slurm ignores ``--ntasks-per-node``, so a
    plane is used. It distributes the ranks of a node round-robin over its sockets.
    """
    counts = placement.ranks_per_host()
    most = int(counts.max(initial=0))
    if not is_block_distribution(placement):
        return ["-m", f"plane={most}"]
    is_full = placement.rank_count == most * int((counts > 0).sum())
    each = [f"--ntasks-per-node={most}"] if is_full else []
    return [*each, "-m", "block:block"]


def list_bind_options(placement: HostPlacement) -> list[str]:
    """List ``--cpu-bind`` and ``--gpu-bind`` for the i-th rank of each host.

    CPUs outside of ``-c`` are refused, so it must not be given as well.
    """
    options = []
    if (cpus := find_uniform_cpus(placement)) is not None:
        if all(len(of_rank) == 1 for of_rank in cpus):
            listed = "map_cpu:" + ",".join(str(of_rank[0]) for of_rank in cpus)
        else:
            listed = "mask_cpu:" + ",".join(
                f"{make_cpu_mask(each):#x}" for each in cpus
            )
        options.append(f"--cpu-bind={listed}")
    if (gpus := find_uniform_gpus(placement)) is not None:
        options.append(f"--gpu-bind=map_gpu:{','.join(map(str, gpus))}")
    return options


def deals_ranks_to_their_slots(placement: HostPlacement) -> bool:
    """Return whether ``-m arbitrary`` starts ranks on the cores of their slots."""
    if placement.has_uneven_packages.any():
        return False
    packages = placement.packages_of_host[placement.host]
    slots = placement.slots_of_host[placement.host]
    order = np.lexsort((np.arange(placement.rank_count), placement.host))
    host = placement.host[order]
    number = np.empty(placement.rank_count, dtype=np.int64)
    number[order] = np.arange(placement.rank_count) - np.searchsorted(host, host)
    turn, package = np.divmod(number, packages)
    dealt = package * (slots // packages) + turn * placement.slots_per_rank
    return bool(np.array_equal(placement.slot, dealt))
