# SPDX-License-Identifier: BSD-3-Clause
"""Documents of commands that place ranks and measure placements."""

from __future__ import annotations

from typing import Any

from typing_extensions import NotRequired, TypedDict


class Measures(TypedDict):
    """The measures of a placement."""

    predicted_seconds: NotRequired[float]
    predicted_seconds_with_background: NotRequired[float]
    """While other jobs load the links; absent without their traffic."""
    hop_bytes: float
    hops_per_byte: float
    dilation_average: float
    dilation_max: float
    traffic_average: float
    congestion_max: float
    congestion_with_background: NotRequired[float]
    """The same with the loads of other jobs; absent without their traffic."""
    inter_node_bytes: float
    inter_node_max: float
    load_max: NotRequired[float]
    minimal_share: NotRequired[float]


class ObjectiveMeasures(Measures):
    """The measures of a placement, with the value of its objective."""

    objective: NotRequired[float]
    """Value of the objective; absent if the objective is one of the measures."""


class GapMeasures(TypedDict):
    """Measures of a placement divided by their lower bounds; null without a bound."""

    hop_bytes: float | None
    congestion_max: float | None
    predicted_seconds: NotRequired[float | None]
    congestion_with_background: NotRequired[float | None]
    predicted_seconds_with_background: NotRequired[float | None]


class AllocationTable(TypedDict):
    """The nodes of a job."""

    nodes: list[int]
    """Node ids in the order of the launcher."""
    hosts: NotRequired[list[str]]
    """Host name of each node; absent if unknown."""
    slots: NotRequired[list[int]]
    """Slots of the job; absent if it has all slots of its nodes."""


class PlacementDocument(TypedDict):
    """A placement file: the slots of the ranks, and their origin."""

    format: str
    """Always `topoloom-placement`: the output is also a placement file."""
    version: int
    """Version of the file format."""
    machine: str
    """The machine as text."""
    node: NotRequired[dict[str, Any]]
    """Names, CPUs, devices and memory of a node, as in a machine file."""
    nodes: NotRequired[list[dict[str, Any]]]
    """The same for each type of node, if nodes differ."""
    switch_names: NotRequired[list[str]]
    """Names of the switches of the machine; absent if unknown."""
    allocation: AllocationTable
    """The nodes of the job."""
    placement: list[int]
    """Slot of each rank: node * slots per node + position on the node."""
    shared: NotRequired[bool]
    """True if ranks may share slots; otherwise absent."""
    cores_per_rank: NotRequired[int]
    """Slots that each rank occupies, from its own on; absent for 1."""
    capacities: NotRequired[list[float]]
    """Load that each slot of the allocation may hold; absent without capacities."""
    fixed: NotRequired[list[int]]
    """Ranks that had to be on their slots; absent if there are none."""
    objective: str
    """The minimized objective."""
    values: ObjectiveMeasures
    """Measures of the placement."""
    mapper: str
    """The mapper."""
    seed: int
    """Seed of the search."""
    work: int
    """Number of evaluated candidates."""
    topoloom: str
    """Version of Topoloom."""
    graph: NotRequired[str]
    """File of the communication graph; absent if unknown."""
    command: NotRequired[list[str]]
    """The command line that placed the ranks; absent if unknown."""


class ProvenValue(TypedDict):
    """A lower bound on the objective that the mapper proved."""

    at_least: float
    """No placement has a lower value of the objective."""
    gap: float | None
    """Value of the placement divided by the bound; null for a bound of 0."""
    optimal: bool
    """Whether the placement is proven to be optimal."""


class RejectedPlacement(TypedDict):
    """The best placement by an automatic objective that was not returned."""

    reason: str
    """`slower` than block order, or `no gain` over it."""
    value: float
    """Its value of the objective."""
    predicted_seconds: float
    """Its predicted time."""
    kept_value: float
    """Value of the returned placement."""
    kept_predicted_seconds: float
    """Predicted time of the returned placement."""


class AdviceDocument(TypedDict):
    """What to do with a placement, and the numbers behind it."""

    situation: str
    """Such as `gain`, `no gain`, `latency-bound` or `near the bound`."""
    sentence: str
    """One sentence."""
    measure: str
    """The measure that the sentence is about."""
    before: float
    """Its value in the launcher's order."""
    after: float
    """Its value with the placement."""
    gain_percent: float | None
    """Reduction by the placement in percent; null if only `before` is 0."""
    gain_at_most_percent: float | None
    """Upper bound on the gain of any placement; null if no bound was computed."""
    latency_share: float | None
    """Share of startups and latencies in the predicted time; null if not computed."""
    mpi_share_at_most: float | None
    """Largest share of communication in the recorded run time; null if unknown."""
    program_gain_at_most_percent: float | None
    """Upper bound on the program's gain in percent of its run time; null if unknown."""


class MapDocument(PlacementDocument):
    """A placement, which other commands read as a placement file."""

    proven: NotRequired[ProvenValue]
    """Lower bound, if the mapper proves one."""
    rejected: NotRequired[RejectedPlacement]
    """Absent if the best placement by the objective was returned."""
    advice: NotRequired[AdviceDocument]
    """What to do with the placement; absent in placement files."""


class MapperResult(ObjectiveMeasures):
    """The placement of one mapper."""

    mapper: str
    """The mapper."""
    search_seconds: float
    """Duration of the search in seconds."""
    work: int
    """Number of evaluated candidates; 0 for user mappers."""
    gain_percent: float | None
    """Reduction of the objective relative to block order, in percent."""
    gap: GapMeasures
    """Measures divided by quickly proved lower bounds; 1 is optimal."""


class CompareDocument(TypedDict):
    """A comparison of mappers."""

    machine: str
    """The machine as text."""
    nodes: int
    """Number of nodes of the job."""
    ranks: int
    """Number of ranks."""
    seed: int
    """Seed of the searches."""
    objective: str
    """The minimized objective."""
    reason: str
    """Why this objective was chosen; empty if it was requested."""
    default: str
    """The mapper that places like the launcher."""
    best: str
    """The mapper with the lowest value of the objective."""
    results: list[MapperResult]
    """The placement of each mapper; block order is first."""
    failed: dict[str, str]
    """Error message of each user mapper that failed, by mapper."""
    advice: AdviceDocument
    """What to do with the best placement."""
    figure: str | None
    """File of the figure."""


class LinkUser(TypedDict):
    """Ranks that load a link."""

    source: int
    """Sending rank."""
    target: int
    """Receiving rank."""
    bytes: float
    """Bytes of their messages on the link."""


class HottestLink(TypedDict):
    """A link with a high load."""

    link: str
    """The link, named by its ends."""
    bytes: float
    """Load in bytes, with that of other jobs."""
    background_bytes: NotRequired[float]
    """Load by other jobs; absent if their traffic is unknown."""
    background_share: NotRequired[float]
    """Their share of the load, from 0 to 1."""
    seconds: float
    """Load divided by bandwidth; of relative bandwidths if none are known."""
    loaded_by: list[LinkUser]
    """Pairs of ranks that load the link most."""


class JudgeDocument(Measures):
    """The measures of a placement, and of the launcher's default."""

    machine: str
    """The machine as text."""
    nodes: int
    """Number of nodes of the job."""
    mapper: str
    """The mapper of the placement; `block` without a placement."""
    gap: GapMeasures
    """Measures divided by quickly proved lower bounds; 1 is optimal."""
    block: Measures
    """Measures of block order, the default of the launcher."""
    node_bytes_in_max: int
    """Most bytes that a node receives from others."""
    node_bytes_out_max: int
    """Most bytes that a node sends to others."""
    node_messages_in_max: int
    """Most messages that a node receives from others."""
    node_messages_out_max: int
    """Most messages that a node sends to others."""
    hottest_links: list[HottestLink]
    """The most loaded links, by load."""
    phases: list[Measures]
    """Measures of each phase."""
    phase_names: list[str]
    """Name of each phase; empty if phases have no names."""
    fixed: list[int]
    """Ranks that had to be on their slots; gaps are for placements that keep them."""


class LowerBound(TypedDict):
    """A lower bound for all placements."""

    at_least: float
    """The bound, in the unit of the measure."""
    proved_by: str
    """Method of the proof."""
    where: NotRequired[str]
    """Part of the machine, or rank, that determines the bound."""
    rounded: NotRequired[float]
    """Congestion of the linear relaxation, rounded to whole ranks."""
    value: NotRequired[float]
    """Value of the placement; absent without a placement."""
    gap: NotRequired[float | None]
    """Value divided by bound; null for a bound of 0."""


class LowerBounds(TypedDict):
    """Lower bounds by measure."""

    predicted_seconds: NotRequired[LowerBound]
    """Bound on the predicted time in seconds; absent if bandwidths are unknown."""
    hop_bytes: LowerBound
    """Bound on hop-bytes."""
    congestion_max: NotRequired[LowerBound]
    """Bound on congestion: in seconds, or in bytes if bandwidths are unknown."""
    predicted_seconds_with_background: NotRequired[LowerBound]
    """With traffic of other jobs, instead of `predicted_seconds`."""
    congestion_with_background: NotRequired[LowerBound]
    """With traffic of other jobs, instead of `congestion_max`."""


class BoundDocument(LowerBounds):
    """Lower bounds on the measures of any placement."""

    machine: str
    """The machine as text."""
    nodes: int
    """Number of nodes of the job."""
    ranks: int
    """Number of ranks."""


class JobSeconds(TypedDict):
    """Simulated seconds of a job."""

    alone: float
    """With the joint placement, on an empty machine."""
    apart: float
    """With separate placements, while all jobs run."""
    jointly: float
    """With joint placements, while all jobs run."""


class PlacedJob(TypedDict):
    """A job, with values of its objective."""

    job: str
    """Name of the job."""
    ranks: int
    """Number of ranks."""
    nodes: list[int]
    """Node ids of the job."""
    alone: float
    """Objective on an empty machine."""
    apart: float
    """Objective with separate placements, while all jobs run."""
    jointly: float
    """Objective with joint placements, while all jobs run."""
    output: str | None
    """File of the placement."""
    simulated_seconds: JobSeconds | None
    """Simulated times; null without simulation."""


class JointValues(TypedDict):
    """Values over all jobs."""

    objective: float
    """Objective of the worst job."""
    hop_bytes: float


class JointDocument(TypedDict):
    """Placements of several jobs."""

    machine: str
    """The machine as text."""
    objective: str
    """The minimized objective."""
    mapper: str
    """The mapper."""
    seed: int
    """Seed of the search."""
    work: int
    """Number of evaluated candidates."""
    jobs: list[PlacedJob]
    """The jobs, in the order of the command line."""
    apart: JointValues
    """With separate placements."""
    jointly: JointValues
    """With joint placements."""


class BusyChannel(TypedDict):
    """A channel of the network."""

    channel: str
    """The channel, named by its ends."""
    sending: float
    """Share of the time in which it was sending."""


class BusySwitch(TypedDict):
    """A switch of the network."""

    output: str
    """The busiest output of the switch."""
    sending: float
    """Share of the time in which its outputs were sending, on average."""


class PhaseSeconds(TypedDict):
    """Times of a phase."""

    predicted_seconds: float
    simulated_seconds: float
    """Simulated time in seconds."""


class SimulatedPlacement(TypedDict):
    """A simulated placement."""

    placement: str | None
    """File of the placement; null for block order."""
    mapper: str
    """The mapper."""
    hop_bytes: float
    dilation_average: float
    congestion_seconds: float
    """Load of the busiest link divided by its bandwidth, summed over phases."""
    predicted_seconds: float
    simulated_seconds: float
    """Simulated time in seconds, from the first to the last message."""
    busiest_channels: list[BusyChannel]
    """Channels that sent most of the time; empty if the simulator has none."""
    busiest_switches: list[BusySwitch]
    """Switches that sent most of the time; empty if the simulator has none."""
    by_phase: list[PhaseSeconds]
    """Times of each phase."""


class SimulateDocument(TypedDict):
    """Simulated times of placements."""

    machine: str
    """The machine as text."""
    simulator: str
    """The simulator."""
    ranks: int
    """Number of ranks."""
    phases: int
    """Number of phases."""
    complete: bool
    """False if Ctrl-C ended the simulations."""
    results: list[SimulatedPlacement]
    """Block order, then the placements."""


class PlacementOnPage(ObjectiveMeasures):
    """A placement on the page."""

    name: str
    """The mapper, or the file if mappers are not unique."""
    file: str | None
    """File of the placement; null for block order."""
    busiest_links: NotRequired[list[HottestLink]]
    """The most loaded links with other jobs; absent without their traffic."""
    simulated_seconds: NotRequired[float]
    """Simulated time in seconds; absent without simulation."""
    busiest_channels: NotRequired[list[BusyChannel]]
    """Channels that sent most of the time; absent without simulation."""
    busiest_switches: NotRequired[list[BusySwitch]]
    """Switches that sent most of the time; absent without simulation."""


class PageDocument(TypedDict):
    """The page of a measured machine."""

    output: str
    """File of the page."""
    bytes: int
    """Size of the page in bytes."""
    headline: str
    """The first sentence of the page."""


class ReportDocument(PageDocument):
    """The page of placements."""

    best: str
    """Name of the best placement."""
    placements: list[PlacementOnPage]
    """Block order, then the placements."""
    advice: NotRequired[AdviceDocument]
    """What to do with the best placement."""


class DemoDocument(TypedDict):
    """The results of the demo."""

    ranks: int
    """Number of ranks."""
    machine: str
    """The machine as text."""
    block: Measures
    """Measures of block order, the default of the launcher."""
    values: ObjectiveMeasures
    """Measures of the placement."""
    gain_percent: float | None
    """Reduction of the predicted time relative to block order, in percent."""
    files: list[str]
    """The written files."""
