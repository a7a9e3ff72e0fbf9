# SPDX-License-Identifier: BSD-3-Clause
"""Documents of machines and of simulated switches."""

from __future__ import annotations

from typing import Any

from typing_extensions import NotRequired, TypedDict


class BandwidthCount(TypedDict):
    """Links of the same bandwidth."""

    bytes_per_second: float | None
    """The bandwidth; null if unknown."""
    relative: NotRequired[float]
    """Bandwidth relative to other links, if bandwidths are unknown."""
    links: int
    """Number of directed links."""


class Bisection(TypedDict):
    """The bandwidth between two halves of the nodes, in both directions."""

    links: int
    """Links cut by the worst bisection found."""
    unit: str
    """`B/s`, or `links` if bandwidths are unknown."""
    at_least: float
    """Lower bound."""
    at_most: float
    """Upper bound: the worst bisection found."""
    exact: bool
    """Whether both bounds are equal."""


class MachineFacts(TypedDict):
    """Size, distances and bandwidths of a machine, without failed parts."""

    machine: str
    """The machine as text."""
    nodes: int
    """Number of nodes."""
    nodes_down: NotRequired[int]
    """Number of failed nodes; absent if none failed."""
    slots: int
    """Number of slots."""
    slots_per_node: int | list[int]
    """Slots per node; a list if nodes differ."""
    nodes_per_host: NotRequired[int]
    """GPUs per host; absent if nodes are hosts."""
    links: int
    """Number of directed links."""
    shape: list[int]
    """Extents of a grid; empty for other networks."""
    wraps: list[bool]
    """Whether each axis is a ring."""
    diameter: int
    """Largest distance between two nodes, in hops."""
    average_distance: float
    """Mean distance between two nodes, in hops."""
    bandwidths: list[BandwidthCount]
    """Links by bandwidth, the most frequent first."""
    bisection: Bisection
    """Bandwidth between two halves of the nodes."""
    parts: NotRequired[list[str]]
    """Nodes of each part that failures disconnect, such as `0-3,8`."""


class MachineDocument(MachineFacts):
    """A machine: its size, its nodes, and measurements if it was probed."""

    name: NotRequired[str]
    """Full name of the machine; absent without a name."""
    hosts: NotRequired[str]
    """Host names, such as `n[00-63]`; absent if unknown."""
    vacant: NotRequired[int]
    """Number of places without a compute node; absent if none."""
    usable_slots: NotRequired[int]
    """Slots of the other places."""
    allocation: NotRequired[str]
    """Hosts of the job; absent without a job."""
    allocated_slots: NotRequired[int]
    """Slots of the job."""
    node_types: NotRequired[list[dict[str, Any]]]
    """The types of nodes, as tables of a machine file, if nodes differ."""
    costs: NotRequired[dict[str, int]]
    """Distance inside each level of a node, and of a `hop`."""
    port: NotRequired[list[int]]
    """Cost of the route to the network card, for each part of the slots."""
    bandwidth: NotRequired[str]
    """Bandwidth of a network card in each direction."""
    startup: NotRequired[str]
    """Time of the sender per message between nodes."""
    latency: NotRequired[str]
    """Latency between nodes, without startup and links."""
    memory: NotRequired[str]
    """Bandwidth of messages inside a node."""
    memory_startup: NotRequired[str]
    """Time of the sender per message inside a node."""
    cpus: NotRequired[list[str]]
    """CPUs of each slot, as numbered by the system."""
    devices: NotRequired[list[dict[str, Any]]]
    """GPUs and network cards of a node, as in a machine file."""
    shared: NotRequired[dict[str, int]]
    """Cores of each resource that coincides with a level, as in a machine file."""
    memory_size: NotRequired[str]
    """Memory of a node."""
    remarks: NotRequired[list[str]]
    """Sentences about assumptions."""
    groups: NotRequired[list[Any]]
    """Groups of near ranks, nested; of a probed machine, as are the next."""
    models: NotRequired[list[dict[str, Any]]]
    """Message costs of each level, as printed by the probe."""
    hops: NotRequired[list[dict[str, Any]]]
    """Times between hosts by hops, as printed by the probe."""
    channels: NotRequired[list[dict[str, Any]]]
    """Bandwidths of concurrent pairs, as printed by the probe."""
    shared_links: NotRequired[list[dict[str, Any]]]
    """Links that host pairs share, as printed by the probe."""
    suspects: NotRequired[list[dict[str, Any]]]
    """Slow hosts and links, as printed by the probe."""
    doubts: NotRequired[list[str]]
    """Sentences about unreliable or missing measurements."""
    claims: NotRequired[list[str]]
    """Sentences about differences from another description."""
    output: NotRequired[str]
    """The written file; absent without -o."""


class MachineDrawDocument(TypedDict):
    """A drawn machine."""

    machine: str
    """The machine as text."""
    output: str
    """File of the drawing."""


class MachineExportDocument(MachineDrawDocument):
    """A written machine."""

    losses: list[str]
    """Sentences about what the file omits or assumes."""


class LatencyHistogram(TypedDict):
    """Packets by latency."""

    width: int
    """Width of a bin in cycles."""
    packets: list[int]
    """Packets in each bin."""


class LoadSample(TypedDict):
    """A sample of the simulation."""

    cycle: int
    """Cycle of the sample."""
    accepted: float
    """Accepted flits per node and cycle."""
    channel_use: float
    """Share of the channels that send."""
    buffer_fill: float
    """Share of the buffers that is full."""


class LoadPoint(TypedDict):
    """Latency at one load."""

    offered: float
    """Offered flits per node and cycle."""
    accepted: float
    """Accepted flits per node and cycle."""
    latency_mean: float
    """Mean packet latency in cycles."""
    latency_half_width: float
    """Half width of its 95 % confidence interval, in cycles."""
    latency_p50: float
    """Median packet latency in cycles."""
    latency_p99: float
    """99th percentile of the packet latency in cycles."""
    saturated: bool
    """Whether latency grows without limit."""
    warm_up_cycles: int
    """Cycles before the measurement."""
    measured_cycles: int
    """Cycles of the measurement."""
    packets: int
    """Number of measured packets."""
    source_min: float
    """Accepted flits per cycle of the slowest node."""
    source_max: float
    """Accepted flits per cycle of the fastest node."""
    fairness: float
    """Jain's index of the accepted flits of the nodes; 1 is fair."""
    latency_histogram: LatencyHistogram
    """Packets by latency."""
    series: list[LoadSample]
    """Samples over time; empty without --watch."""


class SweepDocument(TypedDict):
    """Packet latency by load in the switches of a machine."""

    machine: str
    """The machine as text."""
    nodes: int
    """Number of nodes."""
    switches: int
    """Number of switches."""
    traffic: str
    """Traffic pattern."""
    injection: str
    """Injection process."""
    router: str
    """Type of the routers."""
    vcs: int | None
    """Virtual channels per channel; null for the default of the routes."""
    buffer: int
    """Buffer size in flits."""
    packet: int
    """Packet size in flits."""
    switching: str
    """`wormhole` or `cut-through`."""
    routing: str
    """Routing algorithm."""
    arbiter: str
    """Arbiter."""
    allocator: str | None
    """Allocator; null for routers without one."""
    iterations: int | None
    """Iterations of the allocator; null for routers without one."""
    seed: int
    """Seed of the simulation."""
    stalled: str | None
    """Packets of a deadlock after the last load; else null."""
    loads: list[LoadPoint]
    """Latency at each load."""
