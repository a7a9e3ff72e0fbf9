# SPDX-License-Identifier: BSD-3-Clause
"""Options for mappers, objectives and searches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from topoloom.cli import completions
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom._core import Sharing
    from topoloom.tasks.search import Search

MapperName = Annotated[
    str,
    Option(
        "--mapper",
        metavar="MAPPER",
        help="auto, or a constructor and improvers, such as gge+swap; see 'topoloom "
        "help mappers'.",
        autocompletion=completions.mapper,
    ),
]
Seed = Annotated[
    int,
    Option(
        "--seed",
        metavar="N",
        min=0,
        bits=64,
        help="Random seed; equal seeds give equal results.",
    ),
]
Seconds = Annotated[
    str | None,
    Option("--time", metavar="TIME", help="Stop after this time, e.g. 10s, 2min."),
]
Threads = Annotated[
    int,
    Option("--threads", metavar="N", help="Number of threads; 0 means all cores."),
]
Effort = Annotated[
    str | None,
    Option(
        "--effort",
        metavar="EFFORT",
        help="How long the auto mapper searches: fast, default or best.",
        autocompletion=completions.efforts,
    ),
]
Work = Annotated[
    int | None,
    Option(
        "--work",
        metavar="N",
        min=0,
        bits=64,
        help="Stop after evaluating N candidates; unlike --time, repeatable.",
    ),
]
FixedRanks = Annotated[
    str | None,
    Option(
        "--fix",
        metavar="RANK=SLOT,...",
        help="Keep ranks on slots, as in 0=host1:0,7=host2 or 9=12, the number of an "
        "allocated slot.",
    ),
]
ObjectiveName = Annotated[
    str,
    Option(
        "--objective",
        metavar="NAME",
        help="What to minimize: hop-bytes, congestion, congestion-soft, time, a mix "
        "such as 'weighted(hop-bytes=1,congestion=2)', or auto; see 'topoloom help "
        "objectives'.",
        autocompletion=completions.objectives,
    ),
]

Background = Annotated[
    list[str] | None,
    Option(
        "--background",
        metavar="FILE",
        help="Traffic of other jobs: loads of links, from 'topoloom judge "
        "--write-loads', or another job's GRAPH,PLACEMENT; may be repeated.",
    ),
]


def set_effort(mapper: str, effort: str | None) -> str:
    """Return the mapper with this effort; raise an error unless it is auto."""
    from topoloom._core import Error

    if effort is None:
        return mapper
    if mapper != "auto":
        raise Error(f"--effort is for the mapper auto, not for '{mapper}'")
    return f"auto(effort={effort})"


class SearchOptions(NamedTuple):
    """Options for the seed and the limits of a search."""

    seed: Seed = 1
    time: Seconds = None
    work: Work = None
    threads: Threads = 0

    def make_search(self) -> Search:
        """Check the options and make the search limits."""
        return read_search(*self)


class ObjectiveOptions(NamedTuple):
    """Options for the objective and background traffic."""

    objective: ObjectiveName = "auto"
    background: Background = None


class SharingOptions(NamedTuple):
    """Options for ranks that share slots."""

    imbalance: Annotated[
        float | None,
        Option(
            "--imbalance",
            metavar="X",
            help="If ranks outnumber slots, limit the load of a slot to (1 + X) times "
            "the mean, which is rounded up; 0.03 means 3 %.",
        ),
    ] = None
    capacities: Annotated[
        Path | None,
        Option(
            "--capacities",
            metavar="FILE",
            help="File with the maximum load of each allocated slot, one number per "
            "line; ranks then share slots.",
        ),
    ] = None

    def make_sharing(self) -> Sharing:
        """Check the options and read the file of capacities."""
        from topoloom._core import Error, Sharing
        from topoloom.tasks.sharing import read_capacities

        if self.imbalance is not None and self.capacities is not None:
            raise Error(
                "--imbalance and --capacities are mutually exclusive; give one of them"
            )
        if self.capacities is None:
            return Sharing(imbalance=self.imbalance)
        return Sharing(capacities=read_capacities(self.capacities))


def read_search(
    seed: int, time: str | None = None, work: int | None = None, threads: int = 0
) -> Search:
    """Make the search limits."""
    from topoloom.support.units import parse_duration
    from topoloom.tasks.search import Search

    seconds = parse_duration(time) if time is not None else None
    return Search(seed, seconds, work, threads)
