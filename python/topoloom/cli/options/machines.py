# SPDX-License-Identifier: BSD-3-Clause
"""Options for the machine, the allocation, and the launcher order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from topoloom.cli import completions
from topoloom.cli.options.files import description_option
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.allocations.launch_order import LaunchOrder

_MACHINE_HELP = (
    "A text such as torus:8x8x8, a name from 'topoloom list machines', a file in a "
    "format from 'topoloom list formats', or detect; see 'topoloom help machines'."
)
MachineArgument = Annotated[
    str,
    Argument(
        metavar="MACHINE", help=_MACHINE_HELP, autocompletion=completions.machines
    ),
]
MachineText = Annotated[
    str,
    Option(
        "--machine",
        "-m",
        metavar="MACHINE",
        help=_MACHINE_HELP,
        autocompletion=completions.machines,
    ),
]
MaybeMachineText = Annotated[str | None, MachineText.__metadata__[0]]
WriteDescription = Annotated[
    Path | None, description_option("Write the machine's description, to edit (.toml).")
]
AllocationText = Annotated[
    str | None,
    Option(
        "--allocation",
        "-a",
        metavar="FILE|HOSTS",
        help="Nodes that the job may use: a host list such as 'n[001-064,070]', or a "
        "file with hosts, node ids or coordinates, one per line; see 'topoloom help "
        "allocations'.",
        show_default="all nodes",
    ),
]
NodeCount = Annotated[
    int | None,
    Option(
        "--nodes",
        "-N",
        metavar="N",
        help="Number of nodes of the job; on rails, of hosts. Without --allocation "
        "or --choose, an allocation is generated.",
    ),
]
Fragments = Annotated[
    int | None,
    Option(
        "--fragments",
        metavar="N",
        help="Number of fragments of a generated allocation.",
        show_default="4, or fewer nodes or routers",
    ),
]
LauncherName = Annotated[
    str,
    Option(
        "--launcher",
        metavar="LINE",
        help="Launcher, or launch line such as 'srun --distribution=cyclic', that "
        "places ranks by default. slurm spreads them evenly over nodes; openmpi, mpich "
        "and pjm fill nodes. See 'topoloom help launchers'.",
        autocompletion=completions.launchers,
    ),
]


class RankLimitOptions(NamedTuple):
    """Options that limit the ranks per node."""

    ranks_per_node: Annotated[
        int | None,
        Option(
            "--ranks-per-node",
            metavar="N",
            help="Maximum number of ranks on a node; the job then uses as few nodes "
            "as it needs.",
        ),
    ] = None
    cores_per_rank: Annotated[
        int,
        Option(
            "--cores-per-rank",
            metavar="N",
            help="Number of consecutive slots per rank; the rank is placed on the "
            "first.",
        ),
    ] = 1
    memory_per_rank: Annotated[
        str | None,
        Option(
            "--memory-per-rank",
            metavar="SIZE",
            help="Memory per rank, such as 8GiB, which limits the ranks per node; the "
            "machine's description must contain memory sizes.",
        ),
    ] = None

    def make_launch_order(self, launcher: str) -> LaunchOrder:
        """Check the options and make the launch order."""
        from topoloom.allocations.launch_order import LAUNCHERS, LaunchOrder
        from topoloom.support.parameter_error import check_int64
        from topoloom.support.units import parse_bytes

        if launcher not in LAUNCHERS:
            return self._read_launch_line(launcher)
        memory = 0
        if self.memory_per_rank is not None:
            memory = parse_bytes(self.memory_per_rank)
            check_int64("memory_per_rank", memory, 1)
        return LaunchOrder(launcher, self.ranks_per_node, self.cores_per_rank, memory)

    def _read_launch_line(self, launcher: str) -> LaunchOrder:
        from topoloom._core import Error
        from topoloom.allocations.launch_order import make_launch_line_order

        order = make_launch_line_order(launcher)
        cores = order.cores_per_rank
        if self.ranks_per_node is not None or self.memory_per_rank is not None:
            raise Error(
                "--ranks-per-node and --memory-per-rank cannot be combined with a "
                "launch line; add its own option to it, such as --ntasks-per-node"
            )
        if self.cores_per_rank not in (1, cores):
            raise Error(
                f"--cores-per-rank is {self.cores_per_rank}, but '{launcher}' gives "
                f"each rank {cores}; set them in the launch line, with -c or PE="
            )
        return order


class AllocationOptions(NamedTuple):
    """Options for the nodes that a job may use."""

    allocation: AllocationText = None
    nodes: NodeCount = None
    fragments: Fragments = None
