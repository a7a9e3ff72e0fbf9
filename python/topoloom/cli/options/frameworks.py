# SPDX-License-Identifier: BSD-3-Clause
"""Options for training jobs: the framework, and the sizes of its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from topoloom.cli import completions
from topoloom.cli.options.messages import MaybeRanks
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.frameworks.job import Job


MeshText = Annotated[
    str | None,
    Option(
        "--mesh",
        metavar="AXIS=SIZE,...",
        help="The axes and their sizes, such as tp=8,cp=2,pp=4,dp=16; their "
        "product is the number of ranks.",
        autocompletion=completions.axes,
    ),
]
TrafficText = Annotated[
    str | None,
    Option(
        "--traffic",
        metavar="AXIS=BYTES,...",
        help="Bytes that each rank sends along an axis per step, such as tp=2GiB "
        "or ep=alltoall:64MiB; the others are ring, halving and chain. "
        "dp+ep=1GiB goes along both as one.",
        autocompletion=completions.axes,
    ),
]


def _size_option(name: str, text: str) -> Option:
    return Option(name, metavar="N", help=text)


ExpertRanks = Annotated[
    int | None, _size_option("--ep", "Ranks over which experts are distributed.")
]


class JobOptions(NamedTuple):
    """A framework and the sizes of its axes; all fields are None for a mesh."""

    framework: Annotated[
        str | None,
        Option(
            "--framework",
            metavar="NAME",
            help="Lay out the job by the rules of 'megatron' ('megatron-0.8' for those "
            "of that release of Megatron-Core), 'deepspeed', 'fsdp' or 'jax'; sizes "
            "are those of --tp, --cp, --pp, --ep and --etp, and the rest of --ranks is "
            "the data axis.",
            autocompletion=completions.frameworks,
        ),
    ] = None
    ranks: MaybeRanks = None
    tp: Annotated[int | None, _size_option("--tp", "Tensor parallelism.")] = None
    cp: Annotated[int | None, _size_option("--cp", "Context parallelism.")] = None
    pp: Annotated[int | None, _size_option("--pp", "Stages of the pipeline.")] = None
    ep: ExpertRanks = None
    etp: Annotated[
        int | None,
        _size_option(
            "--etp",
            "Ranks that Megatron splits each expert over; without it tp, and with "
            "--train the best divisor of tp.",
        ),
    ] = None
    replicate: Annotated[
        int | None, _size_option("--replicate", "Copies of the model, for HSDP.")
    ] = None


def read_job(options: JobOptions, mesh: str | None) -> dict[str, int] | Job:
    """Make the mesh or the framework's job; the user must give exactly one of them.

    Raises
    ------
    topoloom.Error
        If none or both are given, or `make_job` fails.
    """
    from topoloom._core import Error
    from topoloom.frameworks.framework_jobs import make_job, parse_framework
    from topoloom.graphs.axes import parse_mesh

    given = {
        name: value
        for name, value in options._asdict().items()
        if value is not None and name not in ("framework", "ranks")
    }
    if options.framework is None:
        words = [*given, *(["ranks"] if options.ranks is not None else [])]
        if words:
            raise Error(f"--{words[0]} requires --framework, such as megatron")
        if mesh is None:
            raise Error("name the axes: --mesh tp=8,dp=16, or --framework and --ranks")
        return parse_mesh(mesh)
    framework = parse_framework(options.framework)
    if mesh is not None:
        raise Error("--mesh and --framework are mutually exclusive; write --tp, --pp")
    if options.ranks is None:
        raise Error(f"{framework.name} requires --ranks")
    return make_job(framework, given, options.ranks)
