# SPDX-License-Identifier: BSD-3-Clause
"""Documents of measured machines."""

from __future__ import annotations

from typing import Any

from typing_extensions import NotRequired, TypedDict

from topoloom.documents.models import ChannelCurve


class TimeSample(TypedDict):
    """Times of several pairs."""

    mean_seconds: float
    """Mean in seconds."""
    sigma_seconds: float
    """Standard deviation in seconds."""
    n: int
    """Number of pairs."""
    outliers: int
    """Number of pairs that were left out."""


class GroupEvidence(TypedDict):
    """The test that separates a group of near ranks."""

    ranks: list[int]
    """Ranks of the group."""
    inside: TimeSample
    """Times inside the group."""
    into: TimeSample
    """Times between the group and others."""
    t: float
    """Statistic of Welch's test."""
    p: float
    """Probability of such a difference by chance."""


class FittedLineFields(TypedDict):
    """Messages up to a size take alpha + beta m seconds for m bytes."""

    alpha_seconds: float
    """Startup in seconds."""
    beta_seconds_per_byte: float
    """Seconds per byte."""
    alpha_interval_seconds: NotRequired[list[float]]
    """95 % confidence interval of the startup."""
    beta_interval_seconds_per_byte: NotRequired[list[float]]
    """95 % confidence interval of the seconds per byte."""
    most_bytes: NotRequired[int]
    """Largest message of the line; absent for the last line."""
    most_interval_bytes: NotRequired[list[int]]
    """The measured sizes between which the line ends."""


class TimeCurveFields(TypedDict):
    """Times by message size."""

    largest: bool
    """Whether the largest value of all lines applies, not one line by size."""
    lines: list[FittedLineFields]
    """Fitted lines."""
    mean_error: float
    """Mean error of the lines relative to the times."""
    worst_error: float
    """Largest error of the lines relative to the times."""
    sizes: list[int]
    """Measured sizes in bytes."""
    measured_seconds: list[float]
    """Median time of each size in seconds."""


class LogGP(TypedDict):
    """Parameters of LogGP in seconds."""

    L: float
    """Latency."""
    o: float
    """Overhead of a send call."""
    g: float
    """Gap between messages."""
    G: float
    """Gap per byte."""


class LevelCostFields(TypedDict, total=False):
    """Message costs of a level; absent with too few measurements."""

    alone: TimeCurveFields
    """Half a round trip by size."""
    burst: TimeCurveFields | None
    """Time of the sender per message of a burst."""
    latency_seconds: float | None
    """Time from sending to arrival besides the gap, in seconds."""
    send_cpu_seconds: float | None
    """CPU time of a send call in seconds."""
    receive_cpu_seconds: float | None
    """CPU time of a receive call in seconds."""
    both_ways: float | None
    """Bidirectional bandwidth relative to that of one direction."""
    posted_receive_seconds: float | None
    """Seconds for each receive that was posted earlier."""
    bytes_per_second: float
    """Bandwidth of long messages."""
    loggp: LogGP | None
    """Parameters of LogGP; null without bursts."""
    unexpected: dict[str, float]
    """Relative time of messages whose receive is late, by size in bytes."""


class LevelFields(LevelCostFields):
    """A level: pairs of ranks that are equally near."""

    level: str
    """Name of the level."""
    short_seconds: float
    """Median time of a short message in seconds."""


class HopTimes(TypedDict):
    """Times between hosts at the same distance."""

    hops: int
    """Distance in hops."""
    pairs: int
    """Number of pairs."""
    short_seconds: float
    """Median time of a short message in seconds."""


class PatternCurve(ChannelCurve):
    """How concurrent pairs slow each other down."""

    pattern: str
    """Pattern of the pairs."""


class NearAndFar(TypedDict):
    """Median times in seconds."""

    near: NotRequired[float]
    """Inside a group."""
    far: NotRequired[float]
    """Between groups."""


class SharedLinkFields(TypedDict):
    """A link that limits concurrent exchanges."""

    hosts: list[str]
    """Hosts whose exchanges with others use the link; empty for single pairs."""
    pairs: list[list[str]]
    """Host pairs that were measured concurrently."""
    times_as_long: float
    """Their concurrent time relative to their time alone."""
    bytes_per_second: float
    """Their total bandwidth in each direction."""
    text: str
    """A sentence that describes the link."""


class SuspectFields(TypedDict):
    """A host or link that is slower than comparable ones."""

    kind: str
    """`host`, `link` between two hosts, or `uplink` of a group of hosts."""
    hosts: list[str]
    """The hosts."""
    of: str
    """What is slow: `latency` or `bandwidth`."""
    times_as_long: float
    """Time relative to comparable parts."""
    measurements: int
    """Number of repeated measurements."""
    way: str
    """The slow direction: `both`, `out` of the first host, or `in` to it."""
    direction: str
    """The slow direction as the end of a sentence; empty for both."""


class ProbeFields(TypedDict):
    """A measured machine."""

    ranks: int
    """Number of ranks."""
    hosts: list[str]
    """Host names."""
    host_of: list[int]
    """Host of each rank, an index into `hosts`."""
    sample_count: int
    """Number of measured times."""
    long_bytes: int
    """Size of a long message."""
    groups: list[Any]
    """Groups of near ranks as nested lists; empty without groups."""
    evidence: list[GroupEvidence]
    """The test that separates each group."""
    models: list[LevelFields]
    """Message costs of each level, the fastest first."""
    hops: list[HopTimes]
    """Times between hosts by distance."""
    channels: list[PatternCurve]
    """How concurrent pairs slow each other down."""
    unit_groups: list[list[int]]
    """Groups of hosts that a check compares; of ranks on a single host."""
    pair_seconds: dict[str, NearAndFar]
    """Times that a check compares, by kind of message."""
    shared_links: list[SharedLinkFields]
    """Links that host pairs share."""
    pairs_met: float | None
    """Share of the combinations of two near pairs that were measured together."""
    suspects: list[SuspectFields]
    """Hosts and links that are slower than comparable ones."""
    noise: float | None
    """System noise: median excess of the time of a piece of work; null if unknown."""
    doubts: list[str]
    """Sentences about unreliable or missing measurements."""
    claims: list[str]
    """Sentences about differences from the description of --machine."""


class ProbeDocument(ProbeFields):
    """A measured machine, and its file."""

    output: str
    """The written machine file."""


class SlowHostFields(TypedDict):
    """A slow host."""

    host: str
    """Host name."""
    of: str
    """What is slow: `latency` or `bandwidth`."""
    times_as_long: float
    """Time relative to that in the file."""


class KnownSlowFields(TypedDict):
    """A host or link that the file calls slow."""

    hosts: list[str]
    """The hosts."""
    of: str
    """What is slow: `latency` or `bandwidth`."""
    times_as_long: float
    """Time relative to comparable parts."""


class BadPartFields(TypedDict):
    """A bad part, or candidates that no test distinguishes."""

    one_of: list[str]
    """Names of the candidates."""
    times_as_long: float
    """Time of messages relative to the usual time."""
    chance: float
    """Probability that this part explains the tests."""


class CheckDocument(TypedDict):
    """A comparison of hosts with an earlier measurement."""

    good: bool
    """Whether no host or part is slower than in the file."""
    hosts: list[str]
    """Measured hosts; ranks on a single host."""
    slow: list[SlowHostFields]
    """Hosts that are slower than in the file."""
    bad_parts: list[BadPartFields]
    """Parts that explain slow messages."""
    known_slow: list[KnownSlowFields]
    """Hosts and links that are already slow in the file."""
    unknown_hosts: list[str]
    """Hosts that are not in the file."""
    unmeasured_hosts: list[str]
    """Hosts that were not measured for lack of time."""
    crowded_hosts: list[str]
    """Hosts that were not measured because their ranks share CPUs."""
    latency_times_as_long: float
    """Median ratio of short messages' times to those in the file."""
    bandwidth_times_as_long: float
    """Median ratio of long messages' times to those in the file."""


class DiagnosisFields(TypedDict):
    """The parts that explain measurements, and what to measure next."""

    bad: list[BadPartFields]
    """Bad parts, the most certain first."""
    tests: int
    """Number of tests."""
    suspects: int
    """Number of other parts that may be bad; inseparable parts count once."""
    untested: int
    """Number of parts that no test covers sufficiently."""
    plan: list[list[str]]
    """Pairs to measure concurrently in the next round."""


class LocateDocument(DiagnosisFields):
    """The parts that explain measurements, and what to measure next."""

    rounds_at_most: int
    """Upper bound on the number of rounds."""
    doubts: list[str]
    """Sentences about measurements that could not be used."""
