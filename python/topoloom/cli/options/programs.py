# SPDX-License-Identifier: BSD-3-Clause
"""Options for programs that are run, and the binding of their ranks."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from topoloom.cli.parameters import Argument, Option

Program = Annotated[
    list[str],
    Argument(metavar="-- COMMAND", help="The whole command, its launcher first."),
]
Mpicc = Annotated[
    str | None,
    Option(
        "--mpicc",
        metavar="COMPILER",
        help="mpicc of the program's MPI; default: the one beside its launcher.",
    ),
]
Collectives = Annotated[
    str,
    Option(
        "--collectives",
        metavar="expand|nccl|keep|drop",
        help="Bcast, allreduce, ...: add the messages an MPI library sends for them to "
        "the graph, or NCCL does for an AI job; keep them beside it; or forget them.",
    ),
]
_GPUS_PER_NODE = Option(
    "--gpus-per-node",
    metavar="N",
    min=1,
    help="Ranks that share a node, one per GPU, for the messages of NCCL; where hosts "
    "of the machine have several slots, these are its GPUs.",
)
GpusPerNode = Annotated[int, _GPUS_PER_NODE]
MaybeGpusPerNode = Annotated[int | None, _GPUS_PER_NODE]
ReplacedCollectives = Annotated[
    str | None,
    Option(
        "--replace-collectives",
        metavar="SETTING",
        help="Let libtopoloom-collective run the collectives of the placed program, "
        "non-blocking ones with progress=1. SETTING is as for TOPOLOOM_COLLECTIVES: "
        "decisions=FILE, schedule=NAME, report=1, ..., separated by semicolons; '' "
        "chooses by what messages cost.",
    ),
]
Nccl = Annotated[
    bool,
    Option(
        "--nccl",
        help="Count what the program does by NCCL or RCCL: every process that loads "
        "one of them, however it is started.",
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
FakeWorld = Annotated[
    int | None,
    Option(
        "--world",
        metavar="N",
        help="Run a PyTorch program as one process that plays a rank of N, without "
        "the others.",
    ),
]
PlayedRanks = Annotated[
    str | None,
    Option(
        "--rank",
        metavar="RANKS",
        help="Ranks of --world to play, one after another, such as 0,256,512: one "
        "of each role, like a stage of a pipeline.  [default: 0]",
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
            help="Cores that each slot stands for, for ranks with N threads.",
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
