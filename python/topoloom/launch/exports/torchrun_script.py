# SPDX-License-Identifier: BSD-3-Clause
"""A script that starts torchrun on each host with the host's node rank.

torchrun also reads its options from variables ``PET_...``. Slurm sets SLURMD_NODENAME
to the host of a task. In Kubernetes, a pod sets NODE_NAME from spec.nodeName by the
downward API.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping

from topoloom.launch.export_format import ExportFormat
from topoloom.launch.exports import torchrun
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import RankLocation

NAME = "torchrun-script"

_HEAD = """\
#!/bin/sh
# Starts a torchrun command with the node rank of this host: sh {name} torchrun train.py
set -eu
if [ $# = 0 ]; then
    echo "{name}: nothing to start; write: sh {name} torchrun train.py" >&2
    exit 2
fi
for word do
    case $word in
    --nn*|--nod*|--np*)
        echo "{name}: leave out $word; torchrun takes it from this order" >&2
        exit 2 ;;
    *.py|-m|--m|--mo*) break ;; # what follows is for the program
    esac
done
case " $* " in
*[\\ =]c10d[\\ ]*|*[\\ =]etcd*|*\\ --standalone\\ *)
    echo "{name}: {why}" >&2
    exit 2 ;;
esac
host=${{SLURMD_NODENAME:-${{NODE_NAME:-$(hostname)}}}}
case $host in
"""

_TAIL = """\
*)
    echo "{name}: host '$host' has no ranks in this order" >&2
    exit 2 ;;
esac
first_host={first}
export NODE_RANK CUDA_VISIBLE_DEVICES
export PET_NODE_RANK="$NODE_RANK" PET_NNODES={nodes} PET_NPROC_PER_NODE="$ranks"
export PET_RDZV_BACKEND=static PET_MASTER_ADDR="${{MASTER_ADDR:-$first_host}}"
export PET_MASTER_PORT="${{MASTER_PORT:-29500}}"
exec "$@"
"""

_ROW = re.compile(
    r"^'?([^'|\s]+).*\) NODE_RANK=([0-9]{1,7}) ranks=([0-9]{1,7}) "
    r"CUDA_VISIBLE_DEVICES=([0-9,]+) ;;$",
    re.MULTILINE,
)


def write(placement: HostPlacement) -> str:
    """Write the script; errors are those of `torchrun.list_nodes`."""
    rows = torchrun.list_nodes(placement)
    lines = [_HEAD.format(name=NAME, why=torchrun.RELIES_ON)]
    short = Counter(host.partition(".")[0] for host, _ in rows)
    for node, (host, devices) in enumerate(rows):
        gpus = ",".join(map(str, devices))
        lines.append(
            f"{_format_host_patterns(host, short)}) "
            f"NODE_RANK={node} ranks={len(devices)} CUDA_VISIBLE_DEVICES={gpus} ;;\n"
        )
    first = shlex.quote(rows[0][0])
    lines.append(_TAIL.format(name=NAME, nodes=len(rows), first=first))
    return "".join(lines)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read the rows of the script that `write` writes."""
    rows = [
        torchrun.NodeRow.parse(node_rank, host, count, gpus)
        for host, node_rank, count, gpus in _ROW.findall(text)
    ]
    return torchrun.locate_ranks(rows, job)[:ranks]


def _format_host_patterns(host: str, short: Mapping[str, int]) -> str:
    """Match the full name of a host, and also its short name if that is unique."""
    name, dot, _ = host.partition(".")
    if not dot:
        return f"{shlex.quote(host)}|{shlex.quote(host)}.*"
    alone = f"|{shlex.quote(name)}" if short[name] == 1 else ""
    return f"{shlex.quote(host)}{alone}"


FORMAT = ExportFormat(
    name=NAME,
    summary="PyTorch: a script that gives torchrun the node rank of its host",
    usage=(
        "srun --ntasks-per-node=1 sh FILE torchrun train.py   (in a pod, with "
        "NODE_NAME and MASTER_ADDR set: sh FILE torchrun train.py)"
    ),
    write=write,
    starts_with=r"#!/bin/sh\n# Starts a torchrun command",
    read=read,
    selects_gpus=lambda _: True,
    relies_on=lambda _: torchrun.RELIES_ON,
)
