# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom report`: write an HTML page about placements or a machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, GraphOption, page_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationText,
    LauncherName,
    MaybeMachineText,
    RankLimitOptions,
)
from topoloom.cli.options.network import SwitchName
from topoloom.cli.options.searches import Background
from topoloom.cli.options.simulators import SimulatorName
from topoloom.cli.parameters import Argument

if TYPE_CHECKING:
    from topoloom.report.page_data import Report
    from topoloom.tasks.advice.rules import Advice


@flatten_option_groups
def command(
    placements: Annotated[
        list[str],
        Argument(
            metavar="PLACEMENT|MACHINE",
            help="Files of 'topoloom map', or rankfiles, host files and other formats "
            "of 'topoloom list exports', as FILE or FORMAT:FILE; all of one job. Or a "
            "machine measured by 'topoloom machine probe'.",
        ),
    ],
    output: Annotated[Path, page_option("Write the page")],
    graph: GraphOption = None,
    *,
    machine: MaybeMachineText = None,
    allocation: AllocationText = None,
    launcher: LauncherName = "slurm",
    limits: RankLimitOptions,
    background: Background = None,
    simulator: SimulatorName = None,
    switch: SwitchName = None,
    as_json: AsJson = False,
) -> None:
    """Write a page about placements, or about a measured machine.

    The page is a single HTML file below 3 MiB that loads nothing from the network. It
    shows gains, the communication matrix before and after, the machine with its link
    loads, a table of nodes, proven bounds, and the origin of each file. By default, the
    graph is the one that the placement names. --with also simulates each placement: the
    page then contains simulated times and, for switches, the busiest channels. With
    --background, it has congestion and predicted time with the traffic of other jobs,
    and their share of each of the busiest links; simulations and advice ignore them.

    Rankfiles, host files and the like need --graph and --machine. If a file of
    'topoloom map' is given as well, its graph, machine and allocation apply to all.

    The page of a machine shows all pairs of ranks, message times by size, groups,
    concurrent exchanges, and slow hosts and links.

    \b
    Examples:
      topoloom report x.json -o report.html
      topoloom report x.json y.json -g p.npz -o report.html
      topoloom report x.json -o report.html --with switches --switch quantum2
      topoloom report ranks.txt -g p.npz -m torus:4x4x4 -o report.html
      topoloom report m.toml -o machine.html
    """
    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import make_progress_bar, note, print_facts, print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.support.units import format_bytes
    from topoloom.tasks.problem import AllocationSpec
    from topoloom.tasks.report_page import Simulator, write_report

    if any(Path(path).suffix == ".toml" for path in placements):
        options = (graph, simulator, switch, machine, allocation, background)
        if len(placements) > 1 or any(option is not None for option in options):
            raise Error(
                "the page of a machine takes no placements, --graph, --machine, "
                "--allocation, --background, --with or --switch; use 'topoloom report "
                "MACHINE.toml -o page.html'"
            )
        _write_machine(Path(placements[0]), output, as_json)
        return
    if simulator is None and switch is not None:
        raise Error("--switch is for --with switches")
    simulation = None
    if simulator is not None:
        monitor = partial(make_progress_bar, unit="messages")
        simulation = Simulator(simulator, switch, monitor)
    written_advice: list[Advice] = []

    def write_advice(report: Report) -> str:
        written_advice.append(_advise(report))
        return written_advice[0].sentence

    written = write_report(
        placements,
        output,
        graph,
        command_line.get(),
        simulation,
        machine,
        AllocationSpec(allocation, order=limits.make_launch_order(launcher)),
        write_advice,
        background,
    )
    for warning in written.warnings:
        note(f"topoloom: {warning}")
    (advice,) = written_advice
    if as_json:
        print_json({**written.document(), "advice": advice.document()})
    else:
        size = format_bytes(written.size)
        facts = [("gain", written.headline), ("written", f"{output} ({size})")]
        print_facts(facts, advice=advice.sentence)
    if written.interrupted:
        raise Interrupted(
            "interrupted; the page lacks simulations that were not finished"
        )


def _advise(report: Report) -> Advice:
    """Advise what to do with the best placement."""
    from topoloom.graphs.mpi_time import load_mpi_time
    from topoloom.graphs.phases import load_phases
    from topoloom.tasks.advice.evidence import (
        Judged,
        advise_on,
        suggest_export,
        suggest_search,
    )
    from topoloom.tasks.objective import Objective

    block, best = report.views[0], report.views[report.best]
    file = best.made
    assert file is not None  # only the launcher's order has none
    time = load_mpi_time(report.graph_file)
    return advise_on(
        Judged(
            report.graph,
            report.allocation,
            Objective(file.objective, load_phases(report.graph_file)),
            block.values,
            best.values,
            best.placement.shared,
            file.capacities,
            gaps=dict(block.gaps),
            mpi_share=time and time.share_at_most,
            use=suggest_export(best.file),
            fixed=bool(file.fixed),
            remedy=suggest_search(
                [view.made.mapper for view in report.views if view.made],
                False,
                "search with 'topoloom map'",
            ),
        )
    )


def _write_machine(machine: Path, output: Path, as_json: bool) -> None:
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import print_facts, print_json
    from topoloom.support.units import format_bytes
    from topoloom.tasks.probed_page import write_probed_page

    written = write_probed_page(machine, output, command_line.get())
    if as_json:
        print_json(written.document())
        return
    size = format_bytes(written.size)
    print_facts([("measured", written.headline), ("written", f"{output} ({size})")])
