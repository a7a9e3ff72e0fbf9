# SPDX-License-Identifier: BSD-3-Clause
"""Summarizes stored runs by user, program or partition: where placement helps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom._core import Error
from topoloom.tasks.runs.gain_estimate import Estimate, estimate_gain

if TYPE_CHECKING:
    from topoloom.documents.runs import RunGroup

Record = dict[str, Any]

#: Percent of its run time that a program must spend in MPI for placement to matter.
WORTHWHILE_MPI_PERCENT = 3.0
BY = ("user", "program", "partition")
_HOUR = 3600.0


class GroupSummary(NamedTuple):
    """The runs of a user, a program or a partition; see `RunGroup`."""

    name: str
    runs: int
    placed: int
    node_hours: float
    mpi_percent: float | None
    predicted_percent: float | None
    gain: Estimate

    @property
    def saving_percent(self) -> float | None:
        """Predicted change of run time: that of communication, by its share."""
        if self.mpi_percent is None or self.predicted_percent is None:
            return None
        return self.mpi_percent * self.predicted_percent / 100

    @property
    def saved_node_hours(self) -> float:
        """Node hours that placement of all these runs is predicted to save."""
        return -self.node_hours * (self.saving_percent or 0.0) / 100

    @property
    def verdict(self) -> str:
        """What to do, in a few words."""
        if self.mpi_percent is None:
            return "not recorded"
        if self.mpi_percent < WORTHWHILE_MPI_PERCENT:
            return f"not worth it: {self.mpi_percent:.1f} % of the time in MPI"
        if self.gain.is_significant and (self.gain.change or 0) > 0:
            return "slower when placed: keep the launcher's order"
        if self.gain.is_significant:
            return "faster when placed"
        if self.placed:
            return "no measured gain yet"
        if self.predicted_percent is None:
            return "not placed yet"
        return "placement helps" if self.predicted_percent < -1 else "no gain predicted"

    def document(self) -> RunGroup:
        """Return the fields of the ``--json`` output."""
        return {
            "name": self.name,
            "runs": self.runs,
            "placed": self.placed,
            "node_hours": self.node_hours,
            "mpi_percent": self.mpi_percent,
            "predicted_percent": self.predicted_percent,
            "saving_percent": self.saving_percent,
            "change_percent": self.gain.change,
            "verdict": self.verdict,
        }


def summarize_runs(records: Sequence[Record], by: str) -> list[GroupSummary]:
    """Summarize ended runs; first the groups that placement is predicted to help most.

    Raises `topoloom.Error` for an unknown `by`.
    """
    if by not in BY:
        raise Error(f"runs cannot be summarized by '{by}'; choose {', '.join(BY)}")
    groups: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.get("exit_status") is not None:
            groups[str(record.get(by) or "none")].append(record)
    found = [_summarize(name, group) for name, group in groups.items()]
    return sorted(found, key=lambda group: (-group.saved_node_hours, group.name))


def _summarize(name: str, records: list[Record]) -> GroupSummary:
    hours = sum(_count_node_hours(record) for record in records)
    return GroupSummary(
        name,
        len(records),
        sum(record.get("kind") == "placed" for record in records),
        hours,
        _average([_find_mpi_percent(record) for record in records]),
        _average([_find_predicted_percent(record) for record in records]),
        _estimate_same_programs(records),
    )


def _estimate_same_programs(records: list[Record]) -> Estimate:
    """Estimate the gain if all runs are of one program; else only count them."""
    if len({record.get("key") for record in records}) == 1:
        return estimate_gain(records)
    placed = sum(record.get("kind") == "placed" for record in records)
    return Estimate(placed, len(records) - placed)


def _count_node_hours(record: Record) -> float:
    nodes: float = record.get("nodes") or 0
    seconds: float = record.get("wall_seconds") or 0.0
    return nodes * seconds / _HOUR


def _find_mpi_percent(record: Record) -> float | None:
    time = record.get("mpi_time")
    return 100 * time["mean"] / time["run"] if time and time["run"] > 0 else None


def _find_predicted_percent(record: Record) -> float | None:
    pair = (record.get("predicted") or {}).get("predicted_seconds")
    if pair is None or not pair[0]:
        return None
    change: float = 100 * (pair[1] / pair[0] - 1)
    return change


def _average(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
