# SPDX-License-Identifier: BSD-3-Clause
"""Documents of communication graphs."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class HeaviestEdge(TypedDict):
    """The pair of ranks with the most bytes."""

    source: int
    """Sending rank."""
    target: int
    """Receiving rank."""
    bytes: int
    """Bytes from source to target."""


class GraphTotals(TypedDict):
    """The size of a communication graph."""

    ranks: int
    """Number of ranks."""
    edges: int
    """Pairs of ranks that communicate."""
    bytes: int
    """Bytes of all messages."""
    messages: int
    """Number of messages."""
    proxied: int
    """Number of ranks whose data goes to a slot once."""
    phases: int
    """Number of phases."""
    self_bytes: int
    """Bytes that ranks send to themselves; not counted in `bytes`."""


class GraphFacts(GraphTotals):
    """The size of a communication graph, and its peers."""

    peers_average: float
    """Mean number of ranks to which a rank sends."""
    peers_max: int
    """Largest number of ranks to which a rank sends."""
    heaviest: HeaviestEdge | None
    """The pair with the most bytes; null without messages."""


class PatternDocument(GraphFacts):
    """A generated or imported communication graph."""

    pattern: str
    """Name of the pattern, or the imported file."""
    output: str | None
    """The written file; null without -o."""
    losses: NotRequired[list[str]]
    """Sentences about missing data; for traces of jobs."""
    remarks: NotRequired[list[str]]
    """Sentences about values of a file that were changed or are not used."""


class BytesPerRankFields(TypedDict):
    """Bytes of a rank."""

    min: int
    """Fewest bytes of a rank."""
    mean: float
    """Mean over ranks."""
    max: int
    """Most bytes of a rank."""


class HeavyPair(HeaviestEdge):
    """A pair of ranks with many bytes."""

    messages: int
    """Messages from source to target."""


class StoredCollectivesFields(TypedDict):
    """The collectives in a recording."""

    calls: dict[str, int]
    """Number of calls by collective, summed over ranks."""
    messages: int
    """Messages of collectives with a size per pair, such as alltoallv."""
    in_edges: bool
    """Whether the edges of the graph include the collectives."""


class MpiTimeFields(TypedDict):
    """Time that the ranks of a run were in MPI calls, in seconds."""

    run: float
    """Longest time of a rank from `MPI_Init` to `MPI_Finalize`."""
    min: float
    """Shortest time of a rank in MPI calls."""
    mean: float
    """Mean over ranks."""
    max: float
    """Longest time of a rank in MPI calls."""
    share_at_most: float
    """Largest share of the run time that faster communication can save."""


class PatternShowDocument(GraphTotals):
    """What a communication graph contains."""

    sent_per_rank: BytesPerRankFields
    """Bytes that a rank sends."""
    received_per_rank: BytesPerRankFields
    """Bytes that a rank receives."""
    heaviest_pairs: list[HeavyPair]
    """Pairs with the most bytes, heaviest first."""
    collectives: StoredCollectivesFields | None
    """Recorded collectives; null if the file stores none."""
    mpi_time: MpiTimeFields | None
    """Time that ranks of the recorded run were in MPI calls; null if unknown."""
