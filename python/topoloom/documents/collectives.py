# SPDX-License-Identifier: BSD-3-Clause
"""Documents of collectives, process grids and multicast trees."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict

from topoloom.documents.placements import BusyChannel, BusySwitch
from topoloom.documents.probes import TimeSample


class ScheduleCost(TypedDict):
    """The predicted cost of a schedule."""

    name: str
    """Name of the schedule."""
    predicted_seconds: float
    """Predicted time in seconds."""
    cpu_seconds: float
    """CPU time of the busiest rank in seconds."""
    congestion_seconds: float
    """Time of the busiest link in seconds, summed over rounds; 0 without a machine."""
    rounds: int
    """Number of rounds."""
    messages: int
    """Messages of the rank that sends the most in each round, summed over rounds."""
    bytes: int
    """Bytes of the same ranks."""
    simulated_seconds: NotRequired[float]
    """Simulated time in seconds; absent without simulation."""
    busiest_channels: NotRequired[list[BusyChannel]]
    """Channels that sent most of the time; absent without simulation."""
    busiest_switches: NotRequired[list[BusySwitch]]
    """Switches that sent most of the time; absent without simulation."""


class ImprovementStep(TypedDict):
    """A step of the joint search of schedule and rank order."""

    what: str
    """What improved: `schedule` or `order`."""
    schedule: str
    """The schedule."""
    seconds: float
    """Predicted time in seconds."""


class DecisionFields(TypedDict):
    """The fastest schedule from a size on."""

    ranks: int
    """Number of ranks."""
    degree: NotRequired[int]
    """Number of targets of a rank; only for manytomany."""
    bytes: int
    """Smallest size."""
    schedule: str
    """The schedule."""


class RankedCollectiveFields(TypedDict):
    """The schedules of a collective."""

    operation: str
    """The collective."""
    ranks: int
    """Number of ranks."""
    bytes: int
    """Bytes of the vector, of a rank's block, or of a pair's block."""
    root: int
    """Root rank."""
    degree: int | None
    """Number of targets of a rank; only for manytomany."""
    pairs: NotRequired[int]
    """Pairs of ranks that communicate; with a graph."""
    model: str
    """Name of the model of message costs."""
    machine: str | None
    """The machine as text; null without a machine."""
    usual: str | None
    """The default schedule of MPICH; null if unknown."""
    schedules: list[ScheduleCost]
    """The schedules, the fastest first."""
    turns: NotRequired[list[ImprovementStep]]
    """Steps of the search, if ranks were ordered."""


class CollectiveDocument(RankedCollectiveFields):
    """The schedules of a collective, and of others in the same file."""

    also: NotRequired[list[RankedCollectiveFields]]
    """Further collectives of the exported file."""
    decisions: NotRequired[list[DecisionFields]]
    """Fastest schedules by size, if a file contains them."""


class MeasuredScheduleFields(TypedDict):
    """Measured times of a schedule."""

    name: str
    """Name of the schedule; `mpi` is the MPI library's own."""
    median_seconds: float
    """Median time in seconds."""
    interval_seconds: list[float]
    """95 % confidence interval of the median."""
    predicted_seconds: float | None
    """Predicted time in seconds; null without a model."""


class MeasuredSize(TypedDict):
    """Measured times of one size."""

    bytes: int
    """Size in bytes."""
    schedules: list[MeasuredScheduleFields]
    """The schedules, the fastest first."""


class MeasureDocument(TypedDict):
    """Measured times of a collective."""

    operation: str
    """The collective."""
    ranks: int
    """Number of ranks."""
    root: int
    """Root rank."""
    model: str | None
    """Name of the model of message costs; null without one."""
    machine: str | None
    """The machine as text; null without a machine."""
    repeats: int
    """Number of calls per schedule."""
    interrupted: bool
    """Whether Ctrl-C ended the measurement."""
    sizes: list[MeasuredSize]
    """Measured times by size."""
    decisions: NotRequired[list[DecisionFields]]
    """Fastest schedules by size, if a file contains them."""


class LineTrafficFields(TypedDict):
    """Messages along all lines of a process grid at the same time."""

    external_links_by_axis: list[int]
    """Most messages that leave a node along each axis."""
    external_links: int
    """Most messages that leave a node."""
    segment_bytes: float
    """Segment size of the pipelined broadcast."""
    pipelined_seconds: float
    """Time of a pipelined broadcast in seconds."""
    binomial_bcast_seconds: float
    """Time of a broadcast along binomial trees in seconds."""
    binomial_scatter_seconds: float
    """Time of a scatter along binomial trees in seconds."""
    binomial_gather_seconds: float
    """Time of a gather along binomial trees in seconds."""


class GridHead(TypedDict):
    """A process grid."""

    machine: str
    """The machine as text."""
    grid: list[int]
    """Extents of the grid."""
    bytes: int
    """Size of a message."""
    speeds: str
    """Latency and bandwidths, and where they are from."""
    reading: str
    """Model of pipelines: `counted` or `printed`."""


class GridDocument(GridHead, LineTrafficFields):
    """Traffic along the axes of a process grid."""

    mapper: str
    """The mapper of the placement."""
    block: LineTrafficFields
    """Traffic of block order, the default of the launcher."""


class TileTraffic(LineTrafficFields):
    """Traffic if each node has one tile of this shape."""

    tile: list[int]
    """Extents of the tile."""


class TilesDocument(GridHead):
    """Traffic along the axes of a process grid, by tile of a node."""

    collective: str
    """The collective by which tiles are ranked."""
    tiles: list[TileTraffic]
    """Tiles, the fastest first."""


class ProcessGroup(TypedDict):
    """A group of processes with cheap messages."""

    processes: list[int]
    """The processes."""
    inside: TimeSample
    """Times inside the group."""
    into: TimeSample
    """Times between the group and others."""
    t: float
    """Statistic of Welch's test."""
    p: float
    """Probability of such a difference by chance."""
    groups_chance: float
    """Probability that noise alone is detected as its groups."""
    groups: list[ProcessGroup]
    """Groups inside the group."""


class OrderDocument(TypedDict):
    """An order of processes for collectives along binomial trees."""

    method: str
    """Method of the order."""
    channels: int
    """Messages of a group that do not slow each other down."""
    root: int
    """Root process."""
    sharing: str
    """Model of how messages share channels."""
    group_of: list[int]
    """Group of each process."""
    groups_chance: float
    """Probability that noise alone is detected as groups."""
    groups: list[ProcessGroup]
    """Groups of processes with cheap messages."""
    order: list[int]
    """Process at each position."""
    scatter_seconds: float
    """Predicted time of a scatter in seconds."""
    scatter_steps_seconds: list[float]
    """Predicted time of each step in seconds."""
    standard_scatter_seconds: float
    """Predicted time in the standard order, in seconds."""
    standard_scatter_steps_seconds: list[float]
    """Predicted time of each step in the standard order, in seconds."""


class StepFields(TypedDict):
    """The contention of a step."""

    step: str
    """Name of the step."""
    rounds: int
    """Number of rounds."""
    links: int
    """Links that several messages cross, on the routes of the machine."""
    most_on_routes: float
    """Most messages on a link, on the routes of the machine."""
    subtrees: NotRequired[int]
    """Subtrees with contention for any ascending routes; in fat trees."""
    most_on_any_ascent: NotRequired[float]
    """Most messages on a link for any ascending routes; in fat trees."""
    bytes_per_second: NotRequired[float]
    """Bandwidth per node on the routes of the machine; with a model."""
    bytes_per_second_on_any_ascent: NotRequired[float]
    """Bandwidth per node for any ascending routes; with a model."""


class FoundOrder(TypedDict):
    """A node order with little contention."""

    on: str
    """Routes: `routes` of the machine, or `any-ascent`."""
    rounds: int
    """Number of rounds with contention."""
    fewest: bool
    """Whether this number is proved to be minimal."""
    nodes: list[int]
    """Nodes in order."""


class ContentionDocument(TypedDict):
    """Link contention in the steps of a schedule."""

    machine: str
    """The machine as text."""
    ranks: int
    """Number of ranks."""
    steps: list[StepFields]
    """Contention of each step."""
    found: NotRequired[FoundOrder]
    """A node order with less contention; with --find."""
    gaps: NotRequired[list[int | None]]
    """Node order with gaps, so that exchanges have no contention."""


class TreeLoadFields(TypedDict):
    """Loads of all trees of one kind."""

    trees: int
    """Number of trees."""
    links_a_tree: float
    """Mean number of links of a tree."""
    depth: int
    """Depth of the deepest tree."""
    most_a_link: float
    """Messages on the busiest link if each root sends one."""
    most_a_switch: int
    """Trees through the busiest switch."""
    loads_of_links: list[int]
    """Trees on each link."""
    loads_of_switches: list[int]
    """Trees through each switch."""


class TreeSeconds(TypedDict):
    """Simulated times of one size."""

    bytes: int
    """Size in bytes."""
    in_switches_seconds: dict[str, float]
    """Seconds in switches, by kind of tree."""
    messages_seconds: float | None
    """Seconds as messages; null for allreduces of several groups."""
    messages_by: str
    """Schedule of the messages."""


class TreeTimesFields(TypedDict):
    """Simulated times of an operation."""

    operation: str
    """The collective."""
    sizes: list[TreeSeconds]
    """Times by size."""


class TreesDocument(TypedDict):
    """Multicast trees in switches."""

    machine: str
    """The machine as text."""
    roots: list[int]
    """Root nodes."""
    members: int
    """Number of members of each tree."""
    trees: dict[str, TreeLoadFields]
    """Loads by kind of tree."""
    simulated: NotRequired[TreeTimesFields]
    """Simulated times; with --operation."""
