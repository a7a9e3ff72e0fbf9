# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ring-bus`: rank assignments of threads on a ring bus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.machines import AllocationText, MaybeMachineText
from topoloom.cli.options.messages import MaybeBytes
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.tasks.bus.affinity import Affinities, Assignment, BandwidthRange
    from topoloom.tasks.bus.assign_threads import AssignedThreads
    from topoloom.tasks.bus.blade import Blade


#: The machine of eight threads, the Cell processor, and that of sixteen: two of them.
_PROCESSOR, _BLADE = "cell-eib", "cell-blade"


def command(
    graph: Annotated[
        str,
        Argument(
            metavar="GRAPH|PATTERN",
            help="A communication graph of 8 or 16 threads, or a pattern of 8 from "
            "'topoloom list patterns'. Every edge is one message.",
            autocompletion=completions.patterns,
        ),
    ],
    machine: MaybeMachineText = None,
    allocation: AllocationText = None,
    amount: MaybeBytes = None,
    by: Annotated[
        str,
        Option(
            "--by",
            metavar="NAME",
            help="Ranking criterion: score, or bandwidth of the slowest message.",
            autocompletion=completions.rankings,
        ),
    ] = "score",
    top: Annotated[
        int,
        Option("--top", metavar="N", help="Number of best assignments to print."),
    ] = 5,
    chosen: Annotated[
        str,
        Option(
            "--assign",
            metavar="NAME",
            help="The assignment whose messages are printed and that -o writes: one "
            "of 'topoloom list bus-assignments', or best.",
            autocompletion=completions.bus_assignments,
        ),
    ] = "best",
    sizes: Annotated[
        str | None,
        Option(
            "--by-size",
            metavar="SIZE,...",
            help="Also print the slowest message of every named assignment for each "
            "of these message sizes.",
        ),
    ] = None,
    ring_ends: Annotated[
        bool,
        Option(
            "--ring-ends",
            help="Slow down three equal messages on a ring if two of them pass an end "
            "of the bus (measured, but not explained).",
        ),
    ] = False,
    halves: Annotated[
        str | None,
        Option(
            "--halves",
            metavar="NAME",
            help="Which threads are on processor 0 of a blade: best or worst, by the "
            "bytes that cross.",
            show_default="best",
            autocompletion=completions.complete_words("best", "worst"),
        ),
    ] = None,
    seed: Seed = 1,
    output: Annotated[
        Path | None,
        output_option("Write the element of every thread, one per line."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rank assignments of threads to the elements of a ring bus.

    All 40,320 assignments of eight threads are scored by how their messages share the
    bus; of several equally good assignments, one is shown. Bandwidths are predicted for
    transfers in pieces of 16 KiB. Messages that go half-way around may take either
    direction: bandwidths are printed for the worst, the mean and the best choice.
    Sixteen threads are first split between the two processors of a blade. By default,
    messages of a pattern have 64 KiB, and the machine is cell-eib.

    \b
    rank       number of better assignments, plus 1
    alike      number of equally good assignments
    peak       load of the busiest link in messages (half-way messages count 1/2
               in each direction); if sizes differ, in units of their greatest
               common divisor
    imbalance  difference between the loads of the two directions
    excess     load of a link above two of the largest messages, summed over links
    half-way   number of messages that go half-way around
    slowest    bandwidth of the slowest message: worst, mean, best

    \b
    Examples:
      topoloom ring-bus ring
      topoloom ring-bus rd2 --assign leap2 --by-size 4KiB,16KiB,64KiB
      topoloom ring-bus p8.npz --top 20 -o elements.txt
      topoloom ring-bus p16.npz -m cell-blade --halves worst
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_json
    from topoloom.graphs.patterns import PATTERNS
    from topoloom.support.files import write_text
    from topoloom.support.units import parse_bytes
    from topoloom.tasks.bus.affinity import ELEMENTS, SCORE, BusTiming
    from topoloom.tasks.bus.assign_threads import assign_threads, load_threads
    from topoloom.tasks.bus.blade import THREADS
    from topoloom.tasks.problem import AllocationSpec, load_nodes

    if amount is not None and graph not in PATTERNS:
        raise Error("--bytes is for patterns; a file contains its message sizes")
    threads = load_threads(graph, None if amount is None else parse_bytes(amount))
    on_blade = threads.rank_count == THREADS
    if halves is not None and not on_blade:
        raise Error(f"--halves are those of {THREADS} threads on a blade")
    if sizes is not None and on_blade:
        raise Error(f"--by-size is for {ELEMENTS} threads on one bus")
    if by != SCORE and on_blade:
        raise Error(f"--by is for {ELEMENTS} threads on one bus")
    if machine == _BLADE and not on_blade:
        raise Error(
            f"{_BLADE} is for {THREADS} threads; {threads.rank_count} threads run on "
            f"one of its processors, {_PROCESSOR}"
        )
    bus = _PROCESSOR if machine in (None, _BLADE) else machine
    at = load_nodes(bus, AllocationSpec(allocation))[0].allocation
    assigned = assign_threads(
        threads,
        at,
        BusTiming(ring_ends=ring_ends),
        chosen=chosen,
        by=by,
        levels=top,
        seed=seed,
        halves=halves or "best",
        sizes=[] if sizes is None else [*map(parse_bytes, sizes.split(","))],
    )
    if output is not None:
        lines = (f"{element}\n" for element in assigned.chosen.elements)
        write_text(output, "".join(lines))
    if as_json:
        print_json(assigned.document())
    else:
        _print_result(assigned)


def _print_result(assigned: AssignedThreads) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.units import format_bytes
    from topoloom.tasks.bus.affinity import Affinities, Assignment

    ranking, chosen = assigned.ranking, assigned.chosen
    if isinstance(ranking, Affinities):
        assert isinstance(chosen, Assignment)
        _print_bus(ranking, chosen)
    else:
        _print_blade(ranking)
    if assigned.by_size:
        columns = ["slowest at", *map(format_bytes, assigned.sizes)]
        rates = assigned.by_size.items()
        print_table(columns, [[name, *map(_format_rate, each)] for name, each in rates])


def _print_bus(ranked: Affinities, one: Assignment) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import format_bandwidth, format_bytes

    columns = ["", "rank", "alike", "peak", "imbalance", "excess", "half-way"]
    print_table(
        [*columns, "elements of threads", "slowest", "average"],
        [
            [
                each.name,
                f"{each.rank:,}",
                f"{each.alike:,}",
                *(f"{halves / 2:g}" for halves in each.score),
                " ".join(map(str, each.elements)),
                _format_rate(each.slowest),
                _format_rate(each.average),
            ]
            for each in (*ranked.levels, *ranked.named)
        ],
        title=f"{len(ranked.scores):,} assignments, loads in messages of "
        f"{format_bytes(ranked.unit)}",
        keep=["", "rank", "elements of threads", "slowest"],
    )
    drawn, ways = ranked.drawn, one.directions
    print_facts(
        [
            (
                one.name,
                f"{ways.clockwise} messages clockwise, {ways.counter_clockwise} "
                f"counter-clockwise, {ways.half_way} half-way; "
                f"{ways.overlaps_clockwise} and {ways.overlaps_counter_clockwise} "
                "pairs overlap",
            ),
            (
                f"{drawn.trials} random",
                f"slowest {format_bandwidth(drawn.mean)} on average, sigma "
                f"{format_bandwidth(drawn.deviation)}, least "
                f"{format_bandwidth(drawn.least)}",
            ),
        ]
    )
    print_table(
        [f"messages of {one.name}", "size", "bandwidth"],
        [
            [
                f"{each.source} → {each.target}",
                format_bytes(each.bytes),
                _format_rate(each.rate),
            ]
            for each in one.messages
        ],
    )


def _print_blade(split: Blade) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import format_bandwidth, format_bytes

    halves = split.halves
    print_facts(
        [
            *(
                (f"processor {number}", " ".join(map(str, threads)))
                for number, threads in enumerate(halves.threads)
            ),
            (
                "crossing",
                f"{format_bytes(halves.crossing)} ({halves.alike:,} sets of 8 alike; "
                f"{format_bytes(split.best_crossing)} at best, "
                f"{format_bytes(split.worst_crossing)} at worst)",
            ),
            *(
                (
                    f"{number} → {1 - number}",
                    f"{sent} messages, {format_bandwidth(rate)} each",
                )
                for number, (sent, rate) in enumerate(
                    zip(halves.sent, split.across, strict=True)
                )
                if rate is not None
            ),
        ]
    )
    print_table(
        ["", "elements of threads", "slowest inside", "slowest"],
        [
            [
                each.name,
                " ".join(map(str, each.elements)),
                "" if each.inside is None else _format_rate(each.inside),
                "" if each.slowest is None else _format_rate(each.slowest),
            ]
            for each in split.assignments
        ],
    )


def _format_rate(rate: BandwidthRange) -> str:
    """Format the worst, mean and best bandwidth, or one number if all are equal."""
    from topoloom.support.units import format_bandwidth

    if rate.best - rate.worst <= 1e-9 * rate.best:
        return format_bandwidth(rate.worst)
    return " ".join(f"{one / 1e9:.1f}" for one in rate) + " GB/s"
