# SPDX-License-Identifier: BSD-3-Clause
"""Documents of commands that run programs, and of launcher files."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict

from topoloom.documents.patterns import MpiTimeFields
from topoloom.documents.placements import AdviceDocument, ObjectiveMeasures


class BusiestPair(TypedDict):
    """The pair of ranks with the most bytes, with collectives."""

    source: int
    """Sending rank."""
    target: int
    """Receiving rank."""
    bytes: int
    """Bytes from source to target."""
    messages: int
    """Messages from source to target."""


class ProgramFacts(TypedDict):
    """What a recorded program communicated."""

    ranks: int
    """Number of ranks."""
    messages: int
    """Point-to-point messages."""
    bytes: int
    """Bytes of point-to-point messages."""
    pairs: int
    """Pairs of ranks with point-to-point messages."""
    own_messages: int
    """Messages of ranks to themselves, which the other counts exclude."""
    own_bytes: int
    """Bytes of messages of ranks to themselves."""
    collectives: dict[str, int]
    """Number of calls of each collective, summed over ranks."""
    graph_messages: int
    """Messages in the communication graph, with those of collectives."""
    graph_bytes: int
    """Bytes in the communication graph, with those of collectives."""
    busiest_pair: BusiestPair | None
    """The pair with the most bytes; null without messages."""
    phases: list[str]
    """Names of the phases of the communication graph; empty for a single phase."""
    seconds: float
    """Duration of the slowest rank in seconds."""
    mpi_time: MpiTimeFields | None
    """Time that ranks were in MPI calls; null if it was not measured."""
    missing_ranks: list[int]
    """Ranks that left no data."""
    partial_ranks: list[int]
    """Ranks that ended before `MPI_Finalize`."""
    ends: dict[str, list[int]]
    """Ranks that ended early, by how they ended."""
    lost_calls: int
    """Calls that could not be counted."""
    exit_status: int
    """Exit status of the command."""


class RecordDocument(ProgramFacts):
    """A recording, and what the program communicated."""

    output: str
    """File of the recording."""


class PlannedLocation(TypedDict):
    """Where the placement puts a rank."""

    host: str
    """Host name."""
    cpus: str
    """CPU numbers of the operating system, such as `0-3,8`; empty if unknown."""


class MisplacedRank(TypedDict):
    """A rank that is not where the placement puts it."""

    rank: int
    """Number of the rank."""
    verdict: str
    """`host` or `cpus`, which differ; `unbound`: it may run on more CPUs."""
    host: str
    """Host name that the rank reported."""
    cpus: str
    """CPUs on which the rank may run."""
    planned: PlannedLocation | None
    """Planned location; null for ranks that the placement does not have."""


class VerifiedProgram(TypedDict):
    """The locations of the ranks of one MPI program."""

    holds: bool
    """Whether all ranks are at their planned locations."""
    ranks: int
    """Number of ranks."""
    planned_ranks: int
    """Number of ranks of the placement."""
    elsewhere: list[MisplacedRank]
    """Ranks that are not exactly where the placement puts them."""


class Verification(TypedDict):
    """The locations of the ranks of a command."""

    holds: bool
    """Whether all ranks are at their planned locations."""
    reason: str | None
    """Why locations are unknown; else null."""
    programs: list[VerifiedProgram]
    """One entry for each MPI program of the command."""


class ActualPlacement(TypedDict):
    """The file of the actual placement, which `--write` names."""

    file: str | None
    """The file; null if it was not written."""
    reason: str | None
    """Why the file was not written; else null."""
    unbound: list[int]
    """Ranks that may run on several slots; the first free one was assumed."""


class VerifyDocument(Verification):
    """The locations of the ranks of an MPI program."""

    exit_status: int
    """Exit status of the program."""
    written: ActualPlacement | None
    """The actual placement; null without `--write`."""


class ReportedGpu(TypedDict):
    """A GPU, as a rank reported it."""

    host: str
    """Host name."""
    gpu: str
    """Number of the GPU on the host, or its UUID; empty if no GPU is visible."""
    uuid: str
    """UUID of the GPU; empty if unknown."""
    used: bool
    """Whether PyTorch has used this GPU."""


class RankGpu(ReportedGpu):
    """The GPU of a rank."""

    rank: int
    """Number of the rank."""


class VerifyTorchDocument(TypedDict):
    """The locations of the ranks of a PyTorch program."""

    exit_status: int
    """Exit status of the program."""
    holds: bool
    """Whether all ranks are at their planned locations."""
    ranks: int
    """Number of ranks."""
    elsewhere: list[str]
    """A sentence for each rank that is not at its planned location."""
    compared_by_host: int
    """Number of ranks whose GPU is unknown, so that only hosts were compared."""
    gpus: list[RankGpu]
    """Reported location of each rank."""
    measure: str
    """The compared measure: `predicted_seconds` or `hop_bytes`; empty if unknown."""
    planned: float | None
    """Measure of the planned locations."""
    started: float | None
    """Measure of the actual locations."""
    written: ActualPlacement | None
    """The actual placement; null without `--write`."""


class RunReport(TypedDict):
    """The report page of a run."""

    file: str | None
    """File of the page; null if it was not written."""
    reason: str | None
    """Why the page was not written; else null."""


class RunSeconds(TypedDict):
    """Durations in seconds."""

    recorded: NotRequired[float]
    """Recorded run; absent if an earlier recording was used."""
    placed: float
    """Placed run."""


class RunDocument(TypedDict):
    """A program that was run with its placement."""

    command: list[str]
    """The started command."""
    mapper: str
    """The mapper."""
    objective: str
    """The minimized objective."""
    reason: str
    """Why this objective was chosen; empty if it was requested."""
    block: ObjectiveMeasures
    """Measures of block order, the default of the launcher."""
    values: ObjectiveMeasures
    """Measures of the placement."""
    note: str | None
    """What the launcher cannot express of the placement; else null."""
    verified: Verification
    """Locations of the ranks."""
    report: RunReport | None
    """The report page; null without --report."""
    seconds: RunSeconds
    """Durations."""
    advice: AdviceDocument
    """What to do with the placement."""
    run: str | None
    """Identifier of the run in the run store; null if it was not stored."""


class UnplacedRunSeconds(TypedDict):
    """Duration in seconds, of one of these runs."""

    recorded: NotRequired[float]
    """Recorded run."""
    launcher: NotRequired[float]
    """Run in launcher order that was not recorded."""


class UnplacedRunDocument(TypedDict):
    """A program that was run in launcher order."""

    command: list[str]
    """The typed command, which was started."""
    exit_status: int
    """Exit status of the program."""
    recorded: bool
    """Whether the run was recorded."""
    reason: str
    """Why the run was neither recorded nor placed; else empty."""
    next_run_placed: bool
    """Whether the next run of the program will be placed."""
    block: ObjectiveMeasures | None
    """Measures of block order; null if no placement was computed."""
    values: ObjectiveMeasures | None
    """Measures of the placement for the next run; null if none was computed."""
    report: RunReport | None
    """The report page; null without --report."""
    seconds: UnplacedRunSeconds
    """Duration."""
    advice: AdviceDocument | None
    """What to do with the placement; null if none was computed."""
    run: str | None
    """Identifier of the run in the run store; null if it was not stored."""


class ReorderDocument(TypedDict):
    """A program whose MPI topologies were reordered."""

    command: list[str]
    """The typed command."""
    lines: list[str]
    """Sentences about each topology."""


class ExportDocument(TypedDict):
    """A placement in the format of a launcher."""

    to: str
    """Name of the format."""
    output: str | None
    """The written file; null without -o."""
    text: str
    """Contents of the file."""
    use: str
    """Command line that uses the file."""
    notes: list[str]
    """What the format cannot express, and what it relies on."""
    checked: str | None
    """The launcher whose dry run confirmed the placement; null without --check."""
