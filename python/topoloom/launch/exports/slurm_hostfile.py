# SPDX-License-Identifier: BSD-3-Clause
"""Slurm host file: the host of each rank, one line per rank, for `srun -m arbitrary`.

Open MPI reads the same file with its sequential mapper (`--map-by seq`), and Flux with
`--taskmap=hostfile:FILE`.
"""

from __future__ import annotations

import re
from collections import Counter

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    list_numbered_lines,
    list_slots_of_hosts,
)
from topoloom.launch.srun_options import (
    deals_ranks_to_their_slots,
    list_bind_options,
    list_core_options,
)
from topoloom.launch.uniform_binding import find_uniform_cpus, find_uniform_gpus

NAME = "slurm-hostfile"

_HOST = r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\*[0-9]{1,7})?"


def write(placement: HostPlacement) -> str:
    """Write one host name per line; line i is rank i."""
    ranks = range(placement.rank_count)
    return "".join(placement.host_name(rank) + "\n" for rank in ranks)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read host names, separated by line ends or commas; ``n1*4`` is n1 four times."""
    located = []
    for number, line in list_numbered_lines(text):
        for word in line.rstrip(",").split(","):
            if not re.fullmatch(_HOST, word):
                raise Error(f"line {number}: expected a host name, not '{word[:40]}'")
            name, _, times = word.partition("*")
            located += [RankLocation(find_host(job, name))] * int(times or 1)
    return _deal_to_sockets(located[:ranks], job)


def _deal_to_sockets(
    located: list[RankLocation], job: HostPlacement
) -> list[RankLocation]:
    """Add the slots to which Slurm assigns ranks on hosts with several sockets.

    The slots stay open if the allocation lacks one of them.
    """
    free = list_slots_of_hosts(job)
    count_of: Counter[int] = Counter()
    dealt = []
    for host, *_ in located:
        packages = int(job.packages_of_host[host])
        turn, package = divmod(count_of[host], packages)
        slot = package * int(job.slots_of_host[host] // packages) + turn
        if packages > 1 and slot not in free[host]:
            return located
        count_of[host] += 1
        dealt.append(RankLocation(host, slot if packages > 1 else None, True))
    return dealt


def _get_usage_values(placement: HostPlacement) -> dict[str, str]:
    options = list_bind_options(placement)
    if find_uniform_cpus(placement) is None:
        options += list_core_options(placement)
    return {"srun_options": "".join(f"{option} " for option in options)}


def _keeps_slots(placement: HostPlacement) -> bool:
    is_bound = find_uniform_cpus(placement) is not None
    return is_bound or deals_ranks_to_their_slots(placement)


def _describe_special_loss(placement: HostPlacement) -> str | None:
    if not placement.has_several_packages or _keeps_slots(placement):
        return None
    return (
        f"{NAME} names hosts, not cores, and Slurm distributes the ranks of a host "
        "round-robin over its sockets; add --bind core"
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
    starts_with=rf"(?![0-9,-]+$){_HOST}(,{_HOST})*,?$",
    read=read,
    sharing="--overcommit",
    hybrid=HybridOptions(binds=True),
)
