# SPDX-License-Identifier: BSD-3-Clause
"""Documents of threads on ring buses."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class BandwidthRangeFields(TypedDict):
    """Bandwidth in bytes per second, over the directions of half-way messages."""

    worst: float
    """Lowest bandwidth."""
    mean: float
    """Mean bandwidth."""
    best: float
    """Highest bandwidth."""


class ScoreFields(TypedDict):
    """Score of an assignment, in half units of load; lower is better."""

    peak: int
    """Load of the busiest part of the bus."""
    imbalance: int
    """Difference between the two directions."""
    excess: int
    """Load beyond what the rings carry at once."""
    half_way: int
    """Load of messages that go half-way around."""


class DirectionFields(TypedDict):
    """Number of messages in each direction."""

    clockwise: int
    """Messages clockwise."""
    counter_clockwise: int
    """Messages counterclockwise."""
    half_way: int
    """Messages half-way around."""
    overlaps_clockwise: int
    """Pairs of clockwise messages that share links."""
    overlaps_counter_clockwise: int
    """Pairs of counterclockwise messages that share links."""


class MessageFields(TypedDict):
    """A message and its bandwidth."""

    source: int
    """Sending thread."""
    target: int
    """Receiving thread."""
    bytes: int
    """Size in bytes."""
    rate: BandwidthRangeFields
    """Its bandwidth."""


class AssignmentFields(TypedDict):
    """An assignment of threads to elements."""

    name: str
    """Name of the assignment; empty if it has none."""
    elements: list[int]
    """Element of each thread."""
    score: ScoreFields
    """Its score."""
    rank: int
    """One plus the number of better assignments."""
    alike: int
    """Number of equally good assignments."""
    directions: DirectionFields
    """Number of messages in each direction."""
    slowest: BandwidthRangeFields
    """Bandwidth of the slowest message."""
    average: BandwidthRangeFields
    """Mean bandwidth over messages."""
    messages: list[MessageFields]
    """Bandwidth of each message."""


class RandomFields(TypedDict):
    """Bandwidth of the slowest message over random assignments."""

    trials: int
    """Number of assignments."""
    mean: float
    """Mean bandwidth in bytes per second."""
    deviation: float
    """Standard deviation."""
    least: float
    """Lowest bandwidth."""


class RingBusDocument(TypedDict):
    """Ranked assignments of eight threads to a ring bus."""

    assignments: int
    """Number of different assignments."""
    unit: int
    """Unit of loads in bytes; scores count half units."""
    levels: list[AssignmentFields]
    """The best assignments, one for each score."""
    named: list[AssignmentFields]
    """The named assignments."""
    random: RandomFields
    """Random assignments."""
    sizes: NotRequired[list[int]]
    """Message sizes in bytes; with several sizes."""
    by_size: NotRequired[dict[str, list[BandwidthRangeFields]]]
    """Lowest bandwidth at each size, by named assignment; with several sizes."""


class HalvesFields(TypedDict):
    """The threads of both processors."""

    threads: list[list[int]]
    """Threads of each processor."""
    crossing: int
    """Bytes between the processors."""
    alike: int
    """Number of splits with equally many bytes between the processors."""
    sent: list[int]
    """Messages that each processor sends to the other."""


class BladeAssignmentFields(TypedDict):
    """A named assignment on both processors."""

    name: str
    """Name of the assignment."""
    elements: list[int]
    """Element of each thread; 8 to 15 are on processor 1."""
    inside: BandwidthRangeFields | None
    """Slowest message inside a processor; null without messages."""
    slowest: BandwidthRangeFields | None
    """Slowest message; null without messages."""


class BladeDocument(TypedDict):
    """Assignments of 16 threads to two ring buses."""

    halves: HalvesFields
    """The threads of each processor."""
    best_crossing: int
    """Fewest bytes between the processors, over all splits."""
    worst_crossing: int
    """Most bytes between the processors, over all splits."""
    across: list[float | None]
    """Bandwidth between processors by sender, in bytes per second."""
    assignments: list[BladeAssignmentFields]
    """The named assignments."""
