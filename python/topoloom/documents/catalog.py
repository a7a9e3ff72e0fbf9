# SPDX-License-Identifier: BSD-3-Clause
"""Documents that list mappers, machines, formats and other choices."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class Named(TypedDict):
    """An entry of a list."""

    name: str
    """Name in the command line."""
    summary: str
    """What it is."""


class AlgorithmOption(TypedDict):
    """An option of an algorithm, set as `name(option=value)`."""

    name: str
    """Name of the option."""
    default: str
    """Default value."""
    range: list[float]
    """Lowest and highest number."""
    choices: list[str]
    """Allowed words; empty for numbers."""
    help: str
    """What the option sets."""


class ListedAlgorithm(Named):
    """A mapper, balancer or schedule."""

    source: str
    """The publication of the method; empty for our own."""
    options: list[AlgorithmOption]
    """Its options."""


class ListedMapper(ListedAlgorithm):
    """A mapper."""

    kind: str
    """`construct` builds placements; `refine` improves them."""
    needs: str
    """What the mapper needs of graph and machine."""


class ListedSetting(Named):
    """A setting of the mapper `auto`, with its value for each effort."""

    problems: str
    """Problems that the setting applies to: hop-bytes, shared slots or links."""
    fast: float
    """Value for `--effort fast`."""
    default: float
    """Value for `--effort default`."""
    best: float
    """Value for `--effort best`."""


class ListedBalancer(ListedAlgorithm):
    """A balancer of equal tasks."""

    needs: str
    """What the balancer needs."""


class ListedSchedule(ListedAlgorithm):
    """A schedule of collectives."""

    operations: list[str]
    """Collectives that it implements."""
    cost: str
    """Formula of its cost."""
    ranks: str
    """Restriction of the number of ranks; empty for any number."""


class ListedPattern(Named):
    """A communication pattern."""

    needs: str
    """The option that sets its size."""


class ListedBusAssignment(Named):
    """An assignment of threads to the elements of a ring bus."""

    elements: NotRequired[list[int]]
    """Element of each thread; absent if random."""
    mapper: str
    """The mapper that assigns so."""


class TopologyOption(TypedDict):
    """An option in the text of a machine."""

    name: str
    """Name of the option."""
    form: str
    """Form of its value."""
    words: list[str]
    """Allowed words, if any."""
    help: str
    """What the option sets."""


class ListedTopology(Named):
    """A topology of machines."""

    example: str
    """Example of a machine."""
    options: list[TopologyOption]
    """Its options."""


class Sourced(Named):
    """A description with its source."""

    source: str
    """Where the numbers are from."""
    date: str
    """Date of the machine or of the measurement."""


class ListedMachine(Sourced):
    """A described machine."""

    text: str
    """The machine as text, shortened."""


class ListedSwitch(Sourced):
    """A described switch."""

    title: str
    """Full name of the switch."""


class ListedFormat(Named):
    """A file format."""

    of: str
    """What the file contains: `pattern` or `machine`."""
    files: str
    """Suffixes of files, or `by content`."""
    written: str | None
    """Suffix of written files; null if the format is only read."""


class ListedExport(Named):
    """A format of `topoloom export`."""

    use: str
    """Command line that uses the file."""


class TopicsDocument(TypedDict):
    """The topics of `topoloom help`."""

    topics: dict[str, str]
    """Title of each topic."""


class HelpDocument(TypedDict):
    """The page of a topic."""

    topic: str
    """Name of the topic."""
    text: str
    """The page."""


class ListDocument(TypedDict):
    """Lists by kind; only the requested one, or all."""

    mappers: NotRequired[list[ListedMapper]]
    """Mappers."""
    plans: NotRequired[list[ListedSetting]]
    """Settings of the mapper `auto` for each effort."""
    balancers: NotRequired[list[ListedBalancer]]
    """Balancers of equal tasks."""
    schedules: NotRequired[list[ListedSchedule]]
    """Schedules of collectives."""
    patterns: NotRequired[list[ListedPattern]]
    """Communication patterns."""
    bus_assignments: NotRequired[list[ListedBusAssignment]]
    """Assignments of threads to a ring bus."""
    topologies: NotRequired[list[ListedTopology]]
    """Topologies of machines."""
    machines: NotRequired[list[ListedMachine]]
    """Described machines."""
    models: NotRequired[list[Sourced]]
    """Network models."""
    switches: NotRequired[list[ListedSwitch]]
    """Described switches."""
    traffic_patterns: NotRequired[list[Named]]
    """Traffic patterns of simulated switches."""
    injections: NotRequired[list[Named]]
    """Injection processes of simulated switches."""
    formats: NotRequired[list[ListedFormat]]
    """File formats."""
    exports: NotRequired[list[ListedExport]]
    """Launcher files."""
