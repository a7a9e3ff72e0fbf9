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


class PatternDocument(TypedDict):
    """A communication graph."""

    pattern: str
    """Name of the pattern, or the imported file."""
    output: str | None
    """The written file; null without -o."""
    ranks: int
    """Number of ranks."""
    edges: int
    """Pairs of ranks that communicate."""
    bytes: int
    """Bytes of all messages."""
    messages: int
    """Number of messages."""
    proxied: int
    """Number of ranks with proxies."""
    phases: int
    """Number of phases."""
    self_bytes: int
    """Bytes that ranks send to themselves."""
    peers_average: float
    """Mean number of ranks to which a rank sends."""
    peers_max: int
    """Largest number of ranks to which a rank sends."""
    heaviest: HeaviestEdge | None
    """The pair with the most bytes; null without messages."""
    losses: NotRequired[list[str]]
    """Sentences about missing data, for traces of jobs."""
