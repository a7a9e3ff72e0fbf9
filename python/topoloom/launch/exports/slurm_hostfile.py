# SPDX-License-Identifier: BSD-3-Clause
"""Slurm host file: the host of each rank, one line per rank, for `srun -m arbitrary`.

Open MPI reads the same file with its sequential mapper (`--map-by seq`), and Flux with
`--taskmap=hostfile:FILE`.
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    list_numbered_lines,
)
from topoloom.launch.uniform_binding import (
    can_bind_uniformly,
    find_uniform_cpus,
    find_uniform_gpus,
    make_cpu_mask,
)

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
    return located[:ranks]


def _get_usage_values(placement: HostPlacement) -> dict[str, str]:
    options = ""
    if (cpus := find_uniform_cpus(placement)) is not None:
        if all(len(of_rank) == 1 for of_rank in cpus):
            listed = "map_cpu:" + ",".join(str(of_rank[0]) for of_rank in cpus)
        else:
            listed = "mask_cpu:" + ",".join(
                f"{make_cpu_mask(each):#x}" for each in cpus
            )
        options += f"--cpu-bind={listed} "
    if (gpus := find_uniform_gpus(placement)) is not None:
        options += f"--gpu-bind=map_gpu:{','.join(map(str, gpus))} "
    return {"srun_bind": options}


FORMAT = ExportFormat(
    name="slurm-hostfile",
    summary="Slurm: the host of each rank, one per line",
    usage=(
        "{variables}SLURM_HOSTFILE=FILE srun -m arbitrary {srun_bind}{cores}{sharing}"
        "-n {ranks} ./app"
    ),
    write=write,
    usage_values=_get_usage_values,
    binds="alike",
    keeps_slots=can_bind_uniformly,
    starts_with=rf"(?![0-9,-]+$){_HOST}(,{_HOST})*,?$",
    read=read,
    sharing="--overcommit",
    hybrid=HybridOptions(cores="-c {cores}", binds=True),
)
