# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective contention`: find steps that cause link contention."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, Figure, output_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.messages import MaybeBytes, Model
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.tasks.collectives.steps import ScheduleContention, StepContention

#: Maximum number of listed steps.
MAX_LISTED = 24


@flatten_option_groups
def command(
    steps: Annotated[
        str,
        Argument(
            metavar="STEPS",
            help="'shift', 'prefix' or 'quarter' for all of these, a schedule of an "
            "allgather such as 'k-shift' or 'k-prefix(k=4)', or a file with the "
            "messages of a step, 'FROM TO' per line.",
            autocompletion=completions.steps,
        ),
    ],
    machine: MachineText,
    *,
    allowed: AllocationOptions,
    find: Annotated[
        str | None,
        Option(
            "--find",
            metavar="routes|any-ascent",
            help="Search an order of the nodes with contention in fewer rounds: on "
            "the machine's routes, or on any ascending routes in a fat tree.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("With --find: write the nodes in that order, for --allocation."),
    ] = None,
    model: Model = None,
    amount: MaybeBytes = None,
    figure: Figure = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Report which steps of a schedule cause link contention.

    Ranks are placed one per node, in the order of the allocation.

    \b
    shift      rank r sends to r + 1, in the next step to r + 2, ...
    prefix     ranks r and r xor 1 exchange, in the next step r and r xor 2, ...
    quarter    quarters of the ranks send to each other, keeping their order
    rounds     number of rounds of the schedule that have this step
    links      links that several messages cross on the machine's routes, and the
               largest number of messages per link
    subtrees   subtrees of a fat tree that messages enter from several others, and
               the largest possible number of messages per link; without such
               subtrees, no ascending routes share links, and adaptive routing has
               no effect
    bandwidth  of a node, in plus out, with --model, for messages of --bytes
               (default 256KiB), on the machine's routes and on any ascending
               routes; consecutive steps with equal bandwidth share a line

    For prefix sends, --find any-ascent also lists an order with unused positions. With
    it, exchanges have no contention, but need more rounds.

    \b
    Examples:
      topoloom collective contention shift --machine fattree:4:4:4
      topoloom collective contention k-shift -m fattree:4:4:4:4 -a 'n[0-99]'
      topoloom collective contention 'k-shift(k=4)' -m fattree:4:4:4 \\
          --nodes 50 --find routes -o order.txt
      topoloom collective contention shift -m fattree:4:4:4,bandwidth=340MB/s \\
          --model qsnet --bytes 256KiB --figure shifts.svg
    """
    from topoloom._core import Allocation, Error
    from topoloom.allocations.allocation_file import save_allocation
    from topoloom.cli.console import print_facts, print_json
    from topoloom.figure.page import check_figure_suffix
    from topoloom.figure.step_bandwidths import draw_step_bandwidths
    from topoloom.model.model_names import load_model
    from topoloom.support.units import format_bytes, parse_bytes
    from topoloom.tasks.collectives.steps import find_contention
    from topoloom.tasks.problem import AllocationSpec, load_nodes

    if output is not None and find is None:
        raise Error("-o writes the order of --find; use both or neither")
    if figure is not None:
        if model is None:
            raise Error("--figure draws bandwidths, which require a model; add --model")
        check_figure_suffix(figure)
    if amount is not None and model is None:
        raise Error("--bytes requires a model; add --model")
    costs = load_model(model).model if model is not None else None
    size = parse_bytes(amount or "256KiB")
    given, _ = load_nodes(machine, AllocationSpec(*allowed, seed))
    judged = find_contention(
        given.allocation, steps, find, seed, model=costs, size=size
    )
    if figure is not None:
        title = f"{steps}, {judged.ranks} ranks, {format_bytes(size)}, {model}"
        draw_step_bandwidths(figure, judged.rates, title)
    if output is not None and judged.found is not None:
        ordered = given.part(Allocation(judged.machine, judged.found.nodes))
        title = f"{judged.ranks} nodes, in order for {steps}"
        save_allocation(output, ordered.allocation, title, ordered.hosts)
    if as_json:
        print_json(judged.document())
    else:
        _print_result(steps, judged)
        print_facts([], written=[output, figure])


def _print_result(steps: str, judged: ScheduleContention) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.number_ranges import compress_ranges
    from topoloom.support.units import format_bandwidth, format_count

    found = judged.steps
    met = [fact for fact in found if fact.has_contention]
    tree = found and found[0].ascent is not None
    rated = found and found[0].rate is not None
    cut = not rated and len(found) > MAX_LISTED
    listed = met[:MAX_LISTED] if cut else found
    columns = ["step", "rounds"]
    for places in ("links", "subtrees") if tree else ("links",):
        columns += [places, "most", *(["bandwidth"] if rated else [])]
    rows: list[list[str]] = []
    first = ""
    for fact in listed:
        cells = [str(fact.rounds)]
        for meetings, rate in (
            (fact.routes, fact.rate),
            (fact.ascent, fact.ascent_rate),
        ):
            if meetings is not None:
                cells += [str(meetings.places), format_count(meetings.most)]
            if rate is not None:
                cells.append(format_bandwidth(rate))
        if len(found) > MAX_LISTED and rows and rows[-1][1:] == cells:
            rows[-1][0] = f"{first} to {fact.name}"
        else:
            first = fact.name
            rows.append([first, *cells])
    print_facts([], f"{steps}, {judged.ranks} ranks on {judged.machine.name}")
    print_table(columns, rows)
    facts = []
    if len(found) > MAX_LISTED:
        free = [
            number for number, fact in enumerate(found, 1) if not fact.has_contention
        ]
        facts.append(
            ("meet nowhere", f"steps {compress_ranges(free)}" if free else "-")
        )
    if cut and len(met) > MAX_LISTED:
        facts.append(
            ("not listed", f"{len(met) - MAX_LISTED} more steps with contention")
        )
    facts.append(
        ("on the routes", _summarize_contention(found, [fact.routes for fact in found]))
    )
    if tree:
        facts.append(
            (
                "any ascent",
                _summarize_contention(found, [fact.ascent for fact in found]),
            )
        )
    if judged.found is not None:
        proof = "; no order has fewer" if judged.found.fewest else ""
        where = "on the routes" if judged.found.on == "routes" else "any ascent"
        text = f"{where}: messages meet in {judged.found.rounds} rounds{proof}"
        facts.append(("order found", text))
    if judged.gaps is not None:
        positions = len(judged.gaps)
        rounds = (1 << (positions - 1).bit_length()) - 1
        facts.append(
            (
                "with gaps",
                f"{positions} positions: messages meet in none of {rounds} rounds",
            )
        )
    print_facts(facts)


def _summarize_contention(found: list[StepContention], where: list[Any]) -> str:
    meet = [
        fact.rounds
        for fact, meetings in zip(found, where, strict=True)
        if meetings.places
    ]
    rounds = sum(fact.rounds for fact in found)
    return (
        f"messages meet in {len(meet)} of {len(found)} steps, "
        f"{sum(meet)} of {rounds} rounds"
    )
