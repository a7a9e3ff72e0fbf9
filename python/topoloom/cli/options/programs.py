# SPDX-License-Identifier: BSD-3-Clause
"""Options for the programs that Topoloom runs, and for the binding of their ranks."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from topoloom.cli import completions
from topoloom.cli.parameters import Argument, Option

_PROGRAM = Argument(
    metavar="-- COMMAND", help="The whole command, starting with the launcher."
)
Program = Annotated[list[str], _PROGRAM]
MaybeProgram = Annotated[list[str] | None, _PROGRAM]
Mpicc = Annotated[
    str | None,
    Option(
        "--mpicc",
        metavar="COMPILER",
        help="mpicc of the program's MPI; required if a script of your own starts it.",
        show_default="the one beside its launcher",
    ),
]
Collectives = Annotated[
    str,
    Option(
        "--collectives",
        metavar="expand|nccl|keep|drop",
        help="Expand collectives to the messages of an MPI library (expand) or of NCCL "
        "(nccl), store them beside the graph (keep), or ignore them (drop).",
    ),
]
GpusPerNode = Annotated[
    int | None,
    Option(
        "--gpus-per-node",
        metavar="N",
        min=1,
        help="Ranks per node, one per GPU, for the messages of NCCL.",
        show_default="8, or the GPUs per host of --machine",
    ),
]
ReplacedCollectives = Annotated[
    str | None,
    Option(
        "--replace-collectives",
        metavar="SETTING",
        help="Let libtopoloom-collective run the collectives of the placed program. "
        "SETTING is as for TOPOLOOM_COLLECTIVES; '' chooses by message costs.",
        autocompletion=completions.collective_settings,
    ),
]
Nccl = Annotated[
    bool,
    Option(
        "--nccl",
        help="Record NCCL or RCCL operations of every process that loads either "
        "library, whatever starts the process.",
    ),
]
Torch = Annotated[
    bool,
    Option(
        "--torch",
        help="Treat the program as PyTorch even without torchrun: accelerate, "
        "deepspeed, srun python train.py, ...",
    ),
]
WorldSize = Annotated[
    int | None,
    Option(
        "--world-size",
        metavar="N",
        help="Run a PyTorch program as one process that acts as a rank of N, without "
        "other ranks.",
    ),
]
PlayedRanks = Annotated[
    str | None,
    Option(
        "--rank",
        metavar="RANKS",
        help="Ranks of --world-size to run, one after another, such as 0,256,512: one "
        "rank per role, such as a pipeline stage.",
        show_default="0",
    ),
]
Hosts = Annotated[
    str | None,
    Option(
        "--hosts",
        metavar="HOSTS",
        help="Host names of the allocation's nodes, in its order: n[001-064,070].",
    ),
]


class BindingOptions(NamedTuple):
    """Options for the binding of ranks."""

    cores_per_slot: Annotated[
        int,
        Option(
            "--cores-per-slot",
            metavar="N",
            help="Cores per slot, for ranks with N threads.",
        ),
    ] = 1
    bind: Annotated[
        str | None,
        Option(
            "--bind",
            metavar="core|pu",
            help="Bind each rank to the core of its slot, or to one hardware thread of "
            "it. Needs a machine whose CPUs are known: from hwloc, 'detect', or "
            "node.cpus.",
        ),
    ] = None
