# SPDX-License-Identifier: BSD-3-Clause
"""Writes the results of ranked collectives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from topoloom._core import Error
from topoloom.figure.rounds import check_rounds, draw_rounds
from topoloom.figure.schedules import draw_schedules, vary_call
from topoloom.graphs.graph_file import save_graph
from topoloom.graphs.phases import make_phase_array
from topoloom.placements.placement_file import save_placement
from topoloom.schedules.choose import Call
from topoloom.schedules.exports.schedule_formats import ScheduleFormat
from topoloom.simulate.result import SimulationResult
from topoloom.support.files import write_text
from topoloom.tasks.collectives.collective import (
    CollectivePlatform,
    RankedCollective,
)
from topoloom.tasks.collectives.simulate_schedules import SimulatedSchedules

if TYPE_CHECKING:
    from topoloom.documents.collectives import CollectiveDocument


class ResultFiles(NamedTuple):
    """Paths of the output files; None for files that were not requested.

    Attributes
    ----------
    placement
        File of the rank order.
    export, export_format
        File of all collectives, and its format in `topoloom.schedules.exports`.
    graph
        File of the communication graph of the best schedule, with phases.
    decisions
        File of the decision table for libtopoloom-collective: the best schedule by
        size.
    figure, over
        File of a figure of times, and its x-axis: ``bytes``, ``ranks`` or ``degree``.
    rounds
        File of a drawing of the best schedule.
    """

    placement: Path | None = None
    export: Path | None = None
    export_format: ScheduleFormat | None = None
    graph: Path | None = None
    decisions: Path | None = None
    figure: Path | None = None
    over: str = "bytes"
    rounds: Path | None = None

    def check_drawable(self, call: Call, platform: CollectivePlatform) -> None:
        """Raise an error before a long search if a figure cannot be drawn.

        Raises
        ------
        topoloom.Error
            If the x-axis would have one value, or there are too many ranks for rounds.
        """
        if self.figure is not None:
            vary_call(call, self.over, platform.slots)
        if self.rounds is not None:
            check_rounds(call)


@dataclass(frozen=True)
class CollectiveResult:
    """A ranked collective, further collectives for the export, and simulated times."""

    found: RankedCollective
    others: Sequence[RankedCollective] = ()
    simulation: SimulatedSchedules | None = None

    @property
    def simulated(self) -> dict[str, SimulationResult]:
        """The simulation results by schedule."""
        return {} if self.simulation is None else self.simulation.simulated

    @cached_property
    def decisions(self) -> dict[str, Any]:
        """The decision table, computed on first use."""
        return self.found.decisions()

    def document(self, files: ResultFiles) -> CollectiveDocument:
        """Return the ``--json`` fields, with the decisions if a file contains them."""
        document = cast("CollectiveDocument", self.found.document())
        for each in document["schedules"]:
            if one := self.simulated.get(each["name"]):
                each["simulated_seconds"] = sum(one.seconds)
                each["busiest_channels"] = [
                    {"channel": channel, "sending": busy}
                    for channel, busy in one.busiest
                ]
                each["busiest_switches"] = [
                    {"output": output, "sending": busy}
                    for output, busy in one.busiest_switches
                ]
        if self.others:
            document["also"] = [other.document() for other in self.others]
        if files.decisions is not None and not self.found.interrupted:
            document["decisions"] = self.decisions["decisions"]
        return document

    def write(self, files: ResultFiles, command: Sequence[str]) -> list[Path | None]:
        """Write the files; after an interrupted search, only the placement.

        Returns
        -------
        list
            The paths of the written files, and None for files that were not requested.
        """
        found, call = self.found, self.found.call
        if files.placement is not None:
            placement = found.placement_file(command=tuple(command))
            save_placement(files.placement, placement)
        if found.interrupted:
            return [files.placement or files.export]
        if files.export is not None and files.export_format is not None:
            text = export_collectives([found, *self.others], files.export_format)
            write_text(files.export, text)
        if files.graph is not None:
            graph, phases = found.graph()
            save_graph(files.graph, graph, {"phases": make_phase_array(phases)})
        if files.decisions is not None:
            write_text(files.decisions, json.dumps(self.decisions, indent=1) + "\n")
        if files.figure is not None:
            platform = found.platform
            draw_schedules(
                files.figure, call, platform.model, platform.slots, files.over
            )
        if files.rounds is not None:
            draw_rounds(files.rounds, [(call, found.ranked[0].name)])
        return [
            files.placement or files.export,
            files.graph,
            files.decisions,
            files.figure,
            files.rounds,
        ]


def export_collectives(several: Sequence[RankedCollective], to: ScheduleFormat) -> str:
    """Format the decisions for an MPI library, or the best schedules.

    Raises
    ------
    topoloom.Error
        If a collective is named twice, or the format cannot express a collective.
    """
    names = [one.call.operation for one in several]
    for name in names:
        if names.count(name) > 1:
            raise Error(f"{name} is named twice; leave one out")
    return to.write(*(one.export_request() for one in several))
