# SPDX-License-Identifier: BSD-3-Clause
"""Documents about runs in the run store."""

from __future__ import annotations

from typing_extensions import TypedDict

from topoloom.documents.patterns import MpiTimeFields


class StoredRun(TypedDict):
    """A run of a program."""

    id: str
    """Identifier: the start in UTC, and a random number."""
    kind: str
    """`recorded` or `launcher`, both in launcher order, or `placed`."""
    started: float
    """Start, in seconds since 1970."""
    user: str
    """Name of the user."""
    host: str
    """Host on which `topoloom run` ran."""
    job: str | None
    """Number of the batch job; null outside of a job."""
    partition: str | None
    """Partition or queue of the batch job; null if unknown."""
    directory: str
    """Working directory."""
    command: list[str]
    """The typed command."""
    program: str
    """Name of the program."""
    key: str | None
    """Equal for runs of the same program, ranks, threads and arguments."""
    ranks: int | None
    """Number of ranks; null if unknown."""
    nodes: int
    """Nodes with ranks in launcher order; all allocated nodes if that is not known."""
    ranks_per_node: int | None
    """Most ranks on a node; null if unknown."""
    threads: str | None
    """Value of `OMP_NUM_THREADS`; null if it was not set."""
    launcher: str | None
    """Launcher and version; null if unknown."""
    machine: str
    """The machine as typed."""
    hosts: str | None
    """Hosts of the allocation; null if unknown."""
    exit_status: int | None
    """Exit status; null if the end of the run is not known."""
    wall_seconds: float | None
    """Duration in seconds; null if the end of the run is not known."""
    mpi_time: MpiTimeFields | None
    """Time in MPI calls; null if the run was not recorded."""
    mapper: str | None
    """Mapper of the placement; null without a placement."""
    objective: str | None
    """Objective of the placement; null without a placement."""
    predicted: dict[str, list[float]]
    """Measures of launcher order and of the placement, as pairs; empty if unknown."""
    verified: bool | None
    """Whether all ranks were where the placement puts them; null if not placed."""
    drift: float | None
    """Share of traffic between other ranks than recorded; null if not compared."""
    note: str | None
    """Why the run was not placed, or what the launcher could not express."""
    recording: str | None
    """File of the recording of this run in the store; null if there is none."""
    placed_by: str | None
    """File of the recording that the placement is for; null if unknown."""
    placement: str | None
    """File of the placement in the store; null if there is none."""


class GainEstimate(TypedDict):
    """Measured gain of placement: median wall times of runs of the same program."""

    placed: int
    """Number of placed runs."""
    unplaced: int
    """Number of runs in launcher order."""
    change_percent: float | None
    """Change of the median by placement; null if there are not enough runs."""
    low_percent: float | None
    """Lower end of the 95 % interval; null if there are not enough runs."""
    high_percent: float | None
    """Upper end of the 95 % interval; null if there are not enough runs."""


class ChangeDocument(TypedDict):
    """Change from the first to the second variant over pairs of runs."""

    pairs: int
    """Number of pairs."""
    change_percent: float | None
    """Median change; null if there are not enough pairs."""
    low_percent: float | None
    """Lower end of the 95 % interval; null if there are not enough pairs."""
    high_percent: float | None
    """Upper end of the 95 % interval; null if there are not enough pairs."""


class TrialPair(TypedDict):
    """A run of each variant, next to each other in time."""

    runs: list[str]
    """Identifiers of the runs, in the order of the variants."""
    seconds: list[float]
    """Their durations in seconds."""


class TrialDocument(TypedDict):
    """A trial of two variants of a run."""

    exit_status: int
    """0, or the exit status of the run that ended the trial."""
    factor: str
    """What differs between the variants: `placement`, `mapper` or `collectives`."""
    variants: list[str]
    """Names of the two variants; changes are from the first to the second."""
    pairs: list[TrialPair]
    """The pairs of runs."""
    wall: ChangeDocument
    """Change of the wall time."""
    mpi: ChangeDocument
    """Change of the mean time in MPI."""
    conclusion: str
    """One sentence about the wall time."""


class ListedRunsDocument(TypedDict):
    """Runs in the run store."""

    store: str
    """Directory of the store."""
    total: int
    """Number of runs that match."""
    damaged: int
    """Number of unreadable entries, which are not shown."""
    runs: list[StoredRun]
    """The runs that are shown, the oldest first."""
    output: str | None
    """File with all runs that match; null without -o."""


class ShownRunDocument(TypedDict):
    """One run, and the gain of placement for its program."""

    store: str
    """Directory of the store."""
    run: StoredRun
    """The run."""
    recording_file: str | None
    """Path of the recording: its own, or that of its placement."""
    placement_file: str | None
    """Path of the placement; null if there is none."""
    gain: GainEstimate
    """Measured gain of placement for this program."""


class RunGroup(TypedDict):
    """Runs of a user, a program or a partition."""

    name: str
    """The user, program or partition."""
    runs: int
    """Number of ended runs."""
    placed: int
    """Number of placed runs."""
    node_hours: float
    """Nodes times hours of all runs."""
    mpi_percent: float | None
    """Mean time in MPI in percent of the run time; null if nothing was recorded."""
    predicted_percent: float | None
    """Predicted change of communication time by placement; null if unknown."""
    saving_percent: float | None
    """Predicted change of run time by placement; null if unknown."""
    change_percent: float | None
    """Measured change of run time by placement; null if there are not enough runs."""
    verdict: str
    """What to do, in a few words."""


class RunSummaryDocument(TypedDict):
    """Runs by user, program or partition."""

    store: str
    """Directory of the store."""
    by: str
    """`user`, `program` or `partition`."""
    groups: list[RunGroup]
    """The groups; first those with the largest predicted saving of node hours."""


class PrunedRunsDocument(TypedDict):
    """Runs that were removed from the run store."""

    store: str
    """Directory of the store."""
    removed_runs: int
    """Number of removed runs."""
    removed_files: int
    """Number of removed recordings and placements."""
