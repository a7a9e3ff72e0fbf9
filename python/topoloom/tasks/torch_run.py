# SPDX-License-Identifier: BSD-3-Clause
"""Runs a PyTorch job, and compares the locations of ranks with a placement."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topoloom.documents.programs import ReportedGpu, VerifyTorchDocument
    from topoloom.launch.apply.torch_ranks import ReportedRank
    from topoloom.launch.host_placement import HostPlacement


@dataclass(frozen=True)
class TorchRun:
    """The exit status of a job, and the locations of its ranks.

    Attributes
    ----------
    status
        The exit status of the command.
    ranks
        The number of ranks.
    elsewhere
        One line of text for each rank that is not at its planned location.
    measure
        The compared measure: predicted time, or hop-bytes without bandwidths. Empty
        without a pattern, or if a rank is outside the placement's slots.
    planned, started
        The measure with the placement, and with the actual locations.
    by_host
        Number of ranks that were compared only by host, since their GPU is unknown.
    seen
        The reported location of every rank.
    slots
        The actual slot of every rank; None if one is unknown or not allocated.
    """

    status: int
    ranks: int
    elsewhere: list[str]
    measure: str = ""
    planned: float = 0.0
    started: float = 0.0
    by_host: int = 0
    seen: Mapping[int, ReportedRank] = field(default_factory=dict)
    slots: Sequence[int] | None = None

    def document(self) -> VerifyTorchDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "exit_status": self.status,
            "holds": not self.elsewhere,
            "ranks": self.ranks,
            "elsewhere": self.elsewhere,
            "compared_by_host": self.by_host,
            "gpus": [
                {"rank": rank, **cast("ReportedGpu", one._asdict())}
                for rank, one in sorted(self.seen.items())
            ],
            "measure": self.measure,
            "planned": self.planned if self.measure else None,
            "started": self.started if self.measure else None,
            "written": None,
        }


def run_torch(
    placement_file: Path, placed: HostPlacement, command: Sequence[str]
) -> TorchRun:
    """Run a command to completion, and compare the locations of its ranks.

    Raises
    ------
    topoloom.Error
        If the rendezvous sorts hosts (detected before the run), or ranks did not
        report.
    """
    from topoloom.launch.apply.run_program import run_program
    from topoloom.launch.apply.torch_command import reject_reordering_rendezvous
    from topoloom.launch.apply.torch_ranks import RankReportFolder, compare_ranks
    from topoloom.launch.launcher import Launch

    reject_reordering_rendezvous(command)
    with closing(RankReportFolder()) as ranks:
        status = run_program(Launch(list(command), ranks.environment))
        seen = ranks.read_reports()
    if status and not seen:
        return TorchRun(status, 0, [])
    compared = compare_ranks(placed, seen)
    costs = _measure_locations(placement_file, compared.slots)
    elsewhere, by_host = compared.mismatches, compared.host_only
    return TorchRun(status, len(seen), elsewhere, *costs, by_host, seen, compared.slots)


def _measure_locations(
    placement_file: Path, slots: Sequence[int] | None
) -> tuple[str, float, float]:
    """Measure the placement and the actual slots; also name the measure."""
    from topoloom._core import Placement, judge
    from topoloom.graphs.graph_file import load_graph
    from topoloom.graphs.phases import load_phases
    from topoloom.placements.placement_file import load_placement
    from topoloom.tasks.objective import predict_time

    file = load_placement(placement_file)
    if not file.graph or not Path(file.graph).is_file() or slots is None:
        return "", 0.0, 0.0
    graph = load_graph(file.graph)
    is_npz = Path(file.graph).suffix == ".npz"
    phases = load_phases(file.graph) if is_npz else ()
    started = Placement(file.allocation, np.array(slots, np.uint32))
    values = []
    for placement in (file.placement, started):
        on = (graph, file.allocation, placement)
        values.append(predict_time(*on, phases) or {"hop_bytes": judge(*on).hop_bytes})
    measure = next(iter(values[0]))
    planned, now = (float(one[measure]) for one in values)
    return measure, planned, now
