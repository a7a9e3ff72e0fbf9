# SPDX-License-Identifier: BSD-3-Clause
"""Documents of allocations."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class SharingJob(TypedDict):
    """Another job that uses the same links."""

    job: str
    """Name of the other job."""
    links: int
    """Number of links that both jobs use."""
    share: float
    """Share of this job's hops on these links."""


class Compactness(TypedDict):
    """How compact the nodes of a job are, and which links it shares."""

    components: int
    """Connected parts of the network that contain the nodes."""
    average_distance: float
    """Mean distance between two nodes of the job, in hops."""
    compact_distance: float
    """The same for the most compact choice found on the empty machine."""
    compactness: float
    """Average distance divided by that of the most compact choice."""
    links_leaving: int
    """Directed links from routers of the job to others: its surface."""
    links_inside: int
    """Directed links between routers of the job."""
    links_used: int
    """Links on routes between nodes of the job."""
    links_foreign: int
    """Used links that begin or end at a router with nodes of other jobs."""
    foreign_share: float
    """Share of the job's hops on foreign links."""
    other_jobs: NotRequired[int]
    """Number of other jobs; with --jobs."""
    links_shared: NotRequired[int]
    """Used links that another job also uses; with --jobs."""
    links_shared_foreign: NotRequired[int]
    """Foreign links that another job also uses; with --jobs."""
    shared_share: NotRequired[float]
    """Share of the job's hops on shared links; with --jobs."""
    sharing: NotRequired[list[SharingJob]]
    """Jobs that share links, those with the largest share first; with --jobs."""


class Spread(TypedDict):
    """In how many leaf groups of the network the groups of each axis are."""

    largest: dict[str, int]
    """Largest number over the groups of each axis."""
    mean: dict[str, float]
    """Mean number over the groups of each axis."""
    all: float
    """The minimized measure over all axes."""


class AllocateDocument(Compactness):
    """The nodes of a job, and facts about their shape."""

    machine: str
    """The machine as text."""
    nodes: list[int]
    """Node ids in the order of the launcher."""
    slots: int
    """Number of slots."""
    output: str | None
    """File of the nodes; null without -o."""
    fragments: NotRequired[int]
    """Number of generated fragments."""
    seed: NotRequired[int]
    """Seed of the search, or of the generated nodes."""
    mapper: NotRequired[str | None]
    """The mapper, if nodes were chosen for a graph."""
    work: NotRequired[int]
    """Number of evaluated candidates, if nodes were chosen for a graph."""
    average_distance_first: NotRequired[float]
    """Average distance of the first free nodes."""
    average_distance_random: NotRequired[float]
    """Average distance of random free nodes."""
    average_distance_chosen: NotRequired[float]
    """Average distance of the chosen nodes."""
    hop_bytes_first: NotRequired[float]
    """Hop-bytes on the first free nodes."""
    hop_bytes_random: NotRequired[float]
    """Hop-bytes on random free nodes."""
    hop_bytes_chosen: NotRequired[float]
    """Hop-bytes on the chosen nodes."""
    mesh: NotRequired[dict[str, int]]
    """Sizes of the axes; with --mesh."""
    hosts: NotRequired[int]
    """Number of hosts; with --mesh."""
    spread_measure: NotRequired[str]
    """The minimized spread: `per byte` or `largest`; with --mesh."""
    spreads: NotRequired[dict[str, Spread]]
    """Spreads of the choices `first`, `packed` and `chosen`; with --mesh."""
    spread_at_least: NotRequired[dict[str, float]]
    """Lower bound on the largest spread of each axis, and of `all`; with --mesh."""
    spread_proven: NotRequired[bool]
    """Whether the spread is proved to be minimal; with --mesh."""
    segments: NotRequired[list[int]]
    """Number of hosts in each leaf group; with --mesh."""
