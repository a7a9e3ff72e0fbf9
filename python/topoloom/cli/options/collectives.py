# SPDX-License-Identifier: BSD-3-Clause
"""Arguments and options of the commands of `topoloom collective`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from topoloom.cli import completions
from topoloom.cli.options.files import GraphOption, output_option
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    RankLimitOptions,
)
from topoloom.cli.options.messages import MaybeBytes, Root
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.schedules.choose import Call
    from topoloom.tasks.problem import AllocationSpec

#: Message size of a collective without --bytes.
DEFAULT_BYTES = "1KiB"

_OPERATIONS = "alltoall, allgather, allreduce, bcast, ..., barrier, many-to-many"
Operation = Annotated[
    str,
    Argument(
        metavar="OPERATION",
        help=f"{_OPERATIONS}.",
        autocompletion=completions.operations,
    ),
]
Operations = Annotated[
    str,
    Argument(
        metavar="OPERATION,...",
        help=f"One or several of {_OPERATIONS}.",
        autocompletion=completions.operation_list,
    ),
]
ScheduleNames = Annotated[
    str | None,
    Option(
        "--schedule",
        metavar="NAME,...",
        help="Consider only these schedules, with options as in 'chain(segment=4096)'.",
        autocompletion=completions.schedules,
    ),
]
WriteDecisions = Annotated[
    Path | None,
    output_option(
        "Write the fastest schedule of each size as a decision table (JSON) for "
        "libtopoloom-collective.",
        "--decisions",
    ),
]


def parse_schedules(text: str | None) -> list[str]:
    """Split the value of --schedule; no value means all schedules."""
    from topoloom.support.plain_text import split_at_commas

    return [] if text is None else split_at_commas(text)


class CallOptions(NamedTuple):
    """Options for the call of a collective: message sizes, root and peers."""

    amount: MaybeBytes = None
    root: Root = 0
    degree: Annotated[
        int | None,
        Option(
            "--degree",
            metavar="D",
            help="For many-to-many: each rank sends to the next D ranks.",
        ),
    ] = None
    graph: GraphOption = None

    def make_call(self, operation: str, ranks: int) -> Call:
        """Make the description of a call."""
        from topoloom._core import Error
        from topoloom.support.units import parse_bytes
        from topoloom.tasks.collectives.collective import read_call

        if self.amount is not None and self.graph is not None:
            raise Error("--bytes cannot be combined with --graph")
        size = parse_bytes(self.amount or DEFAULT_BYTES)
        return read_call(operation, ranks, size, self.root, self.degree, self.graph)


class SlotOptions(NamedTuple):
    """Options for the slots of a machine that the ranks use."""

    allowed: AllocationOptions = AllocationOptions()
    launcher: LauncherName = "slurm"
    limits: RankLimitOptions = RankLimitOptions()

    def make_spec(self, seed: int) -> AllocationSpec:
        """Check the options and describe the slots."""
        from topoloom.tasks.problem import AllocationSpec

        order = self.limits.make_launch_order(self.launcher)
        return AllocationSpec(*self.allowed, seed, order)
