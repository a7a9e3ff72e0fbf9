# SPDX-License-Identifier: BSD-3-Clause
"""Documents of network models."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class CostLine(TypedDict):
    """Messages take alpha + beta m seconds for m bytes."""

    most_bytes: int | None
    """Largest message of the line; null for the last line."""
    alpha_seconds: float
    """Startup in seconds."""
    beta_seconds_per_byte: float
    """Seconds per byte."""


class MessageCostFields(TypedDict):
    """Costs of messages besides the lines, in seconds."""

    latency: float
    """Time from sending to arrival, in addition to the line."""
    send_cpu: float
    """CPU time of the sender per message."""
    send_cpu_per_byte: float
    """CPU time of the sender per byte."""
    receive_cpu: float
    """CPU time of the receiver per message."""
    receive_cpu_per_byte: float
    """CPU time of the receiver per byte."""
    combine: float
    """Time per block that is combined with others."""
    gamma: float
    """Time per byte that is copied."""
    reduce: float
    """Time per byte that is reduced."""
    delta: float
    """Time per byte that is copied to memory of the network card."""
    beta_em: float
    """Time per byte that is sent from memory of the network card."""
    node_alpha: float
    """Time of the network card of a node per message."""
    barrier_round: float
    """Time of a round of a barrier."""
    node_beta: float
    """Time of the network card of a node per byte; 0 without a limit."""


class LinkFactors(TypedDict):
    """Factors on the speeds of links for messages up to a size."""

    most_bytes: int | None
    """Largest message; null for the last entry."""
    latency_factor: float
    """Factor on latencies."""
    bandwidth_factor: float
    """Factor on bandwidths."""


class ModelTables(TypedDict):
    """The costs of messages."""

    regimes: NotRequired[list[CostLine]]
    """Lines by size: each applies up to its largest message."""
    largest: NotRequired[list[CostLine]]
    """Lines of which the largest value applies."""
    alone: list[CostLine]
    """Lines of single messages; empty if the same."""
    costs_seconds: MessageCostFields
    """Other costs in seconds."""
    packet_bytes: float
    """Size of a packet, after which the sender waits; 0 without packets."""


class ModelFileDocument(ModelTables):
    """A network model and its source."""

    summary: str
    """What the model describes."""
    source: str
    """Where the numbers are from."""
    date: str
    """Date of the measurement."""
    links: list[LinkFactors]
    """Factors on the speeds of links, by size."""
    inside: NotRequired[ModelTables]
    """Costs inside a node; absent if the same."""


class ModelShowDocument(ModelFileDocument):
    """A network model."""

    name: str
    """Name or file of the model."""


class PredictedTime(TypedDict):
    """The time of a message."""

    bytes: int
    """Size of the message."""
    seconds: float
    """Time until the sender can send the next message, in seconds."""
    arrival_seconds: float
    """Time until the message arrives, in seconds."""
    cpu_seconds: float
    """CPU time of both ends, in seconds."""


class ModelPredictDocument(TypedDict):
    """Predicted times of messages."""

    model: str
    """Name or file of the model."""
    processes_per_node: int
    """Number of processes of a node that send concurrently."""
    times: list[PredictedTime]
    """Times by size."""


class FittedSize(TypedDict):
    """Measured and predicted time of messages of one size."""

    bytes: int
    """Size of the messages."""
    measured_seconds: float
    """Median of the measured times in seconds."""
    predicted_seconds: float
    """Time of the model in seconds."""


class ModelFitDocument(ModelFileDocument):
    """A network model fitted to measured times."""

    worst_error: float
    """Largest error relative to the measured time."""
    mean_error: float
    """Mean error relative to the measured time."""
    sizes: list[FittedSize]
    """Times by size."""


class PairTotal(TypedDict):
    """The bandwidth of some concurrent pairs."""

    pairs: int
    """Number of pairs."""
    samples: int
    """Number of samples."""
    slowest_seconds: float
    """Median time of the slowest pair in seconds."""
    sigma_seconds: float
    """Standard deviation of the times in seconds."""
    bytes_per_second: float
    """Total bandwidth of all pairs."""


class ChannelCurve(TypedDict):
    """How concurrent pairs of two nodes slow each other down."""

    channels: int
    """Number of pairs that do not slow each other down."""
    channels_at_most: int | None
    """Upper bound on this number; null if no number of pairs was slower."""
    node_bandwidth: float
    """Bandwidth of a node in bytes per second."""
    totals: list[PairTotal]
    """Bandwidth by number of pairs."""


class ChannelPatterns(TypedDict):
    """Channels by pattern of the pairs."""

    patterns: dict[str, ChannelCurve]
    """The curve of each pattern in the file."""
