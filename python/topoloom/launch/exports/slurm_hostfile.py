# SPDX-License-Identifier: BSD-3-Clause
"""Slurm host file: the host of each rank, one line per rank, for `srun -m arbitrary`.

Open MPI reads the same file with its sequential mapper (`--map-by seq`), and Flux with
`--taskmap=hostfile:FILE`.
"""

from __future__ import annotations

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    list_numbered_lines,
)
from topoloom.launch.srun_options import (
    deals_ranks_to_their_slots,
    list_bind_options,
    list_core_options,
)
from topoloom.launch.uniform_binding import find_uniform_cpus, find_uniform_gpus

NAME = "slurm-hostfile"


def write(placement: HostPlacement) -> str:
    """Write one host name per line; line i is rank i."""
    ranks = range(placement.rank_count)
    return "".join(placement.host_name(rank) + "\n" for rank in ranks)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read one host name per line; line i is rank i."""
    located = []
    for number, line in list_numbered_lines(text):
        if len(line.split()) != 1:
            raise Error(f"line {number}: expected one host name")
        located.append(RankLocation(find_host(job, line)))
    return located[:ranks]


def _get_usage_values(placement: HostPlacement) -> dict[str, str]:
    options = list_bind_options(placement)
    if find_uniform_cpus(placement) is None:
        options += list_core_options(placement)
    return {"srun_options": "".join(f"{option} " for option in options)}


def _keeps_slots(placement: HostPlacement) -> bool:
    is_bound = find_uniform_cpus(placement) is not None
    return is_bound or deals_ranks_to_their_slots(placement)


def _describe_special_loss(placement: HostPlacement) -> str | None:
    if placement.packages_of_host.max() == 1 or _keeps_slots(placement):
        return None
    return (
        f"{NAME} names hosts, not cores, and Slurm deals the ranks of a host to its "
        "sockets in turn; add --bind core"
    )


FORMAT = ExportFormat(
    name=NAME,
    summary="Slurm: the host of each rank, one per line",
    usage=(
        "{variables}SLURM_HOSTFILE=FILE srun -m arbitrary {srun_options}{sharing}"
        "-n {ranks} ./app"
    ),
    write=write,
    usage_values=_get_usage_values,
    binds="alike",
    selects_gpus=lambda placement: find_uniform_gpus(placement) is not None,
    keeps_slots=_keeps_slots,
    special_loss=_describe_special_loss,
    starts_with=r"(?![0-9]+$)[A-Za-z0-9][A-Za-z0-9._-]*$",
    read=read,
    sharing="--overcommit",
    hybrid=HybridOptions(binds=True),
)
