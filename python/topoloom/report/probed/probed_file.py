# SPDX-License-Identifier: BSD-3-Clause
"""Reads the machine file and the samples of a probe, for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.probe.inference.groups import RankGroup
from topoloom.probe.job.probe_table import read_probe_table
from topoloom.probe.job.samples import ProbeSamples, load_cost_matrix, load_samples
from topoloom.report.probed.groups import GroupTest, read_evidence, read_groups
from topoloom.support.toml_document import read_toml
from topoloom.support.units import format_bandwidth

Interval = tuple[float, float]


@dataclass(frozen=True)
class FittedLine:
    """Fitted line: up to `most` bytes, m bytes take alpha + beta m seconds.

    `most` is None for the last line. Intervals are 95 % confidence intervals; they are
    None if the line has only two sizes. The interval of `most` lies between two
    measured sizes.
    """

    alpha: float
    alpha_interval: Interval | None
    beta: float
    beta_interval: Interval | None
    most: int | None
    most_interval: Interval | None


@dataclass(frozen=True)
class TimeCurve:
    """Message times in seconds by message size: measured values, and fitted lines."""

    largest: bool  # whether the fitted time is the maximum over all lines
    lines: list[FittedLine]
    sizes: NDArray[np.float64]
    measured: NDArray[np.float64]

    def seconds(self, size: float) -> float:
        """Return the fitted time of a message in seconds."""
        if self.largest:
            return max(line.alpha + line.beta * size for line in self.lines)
        for line in self.lines:
            if line.most is None or size <= line.most:
                break
        return line.alpha + line.beta * size

    @property
    def errors(self) -> NDArray[np.float64]:
        """Relative errors of fitted times by size; positive if a time is too high."""
        fitted = np.array([self.seconds(size) for size in self.sizes.tolist()])
        found: NDArray[np.float64] = fitted / self.measured - 1
        return found


@dataclass(frozen=True)
class LevelModel:
    """Message costs of a level."""

    name: str
    short: float  # seconds of a short message in the scan
    #: `alone`, `burst`: half a round trip, and time per message in a burst.
    alone: TimeCurve | None
    burst: TimeCurve | None
    values: Mapping[
        str, Any
    ]  # the level's values in the file's ``models``, and ``unexpected``

    @property
    def bandwidth(self) -> float | None:
        """Bandwidth of the longest messages in bytes per second."""
        return self.values.get("bytes_per_second")


@dataclass(frozen=True)
class PairLimit:
    """How many concurrent pairs do not interfere, and their total bandwidth."""

    pattern: str
    channels: int
    at_most: int | None
    bandwidth: float
    pairs: list[int]
    totals: list[float]
    samples: list[int]

    @property
    def rows(self) -> list[tuple[int, str, int]]:
        """Rows of pair count, total bandwidth and number of samples."""
        totals = map(format_bandwidth, self.totals)
        return list(zip(self.pairs, totals, self.samples, strict=True))


@dataclass(frozen=True)
class Suspect:
    """A machine part that is slower than comparable parts."""

    kind: str
    hosts: list[str]
    of: str
    factor: float
    measurements: int
    direction: str = ""


@dataclass(frozen=True)
class ProbedMachine:
    """A measured machine."""

    path: Path  # path of the machine file
    name: str  # name of the machine
    nodes: list[int]  # index of the host of each node of the machine
    #: int array of shape (hosts, hosts): hops between hosts that are linked directly;
    #: None if a tree of groups fits the measurements.
    hops: NDArray[np.int64] | None
    samples_path: Path
    samples: ProbeSamples
    #: Seconds of a short message between ranks, of shape ``(ranks, ranks)``; NaN if not
    #: measured.
    costs: NDArray[np.float64]
    hosts: list[str]
    host_of: list[int]
    root: RankGroup  # the group of all ranks
    evidence: Mapping[
        tuple[int, ...], GroupTest
    ]  # t-tests of groups, by the group's ranks
    levels: list[LevelModel]
    channels: list[PairLimit]
    shared_links: list[str]  # descriptions
    #: Of all combinations of two nearby host pairs, the share measured concurrently.
    pairs_met: float | None
    suspects: list[Suspect]
    noise: float | None
    doubts: list[str]
    claims: list[str]
    command: tuple[str, ...]

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.host_of)

    @property
    def has_neighbors(self) -> bool:
        """Whether hosts are linked directly to each other instead of to switches."""
        return self.hops is not None


def read_probed(path: Path) -> ProbedMachine:
    """Read the file and the samples of a probe.

    Raises `topoloom.Error` if the file was not written by a probe, or its samples are
    missing. Raises `OSError` if a file cannot be read.
    """
    document = read_toml(path)
    if "probe" not in document:
        raise Error(
            f"{path} is not measured; 'topoloom machine probe -o {path.name} -- mpirun "
            f"-n 64' measures a machine, 'topoloom machine show {path}' shows this one"
        )
    probed = read_probe_table(document, path)
    samples_path = path.parent / probed["samples"]
    if not samples_path.exists():
        raise Error(
            f"{samples_path}, the samples of {path}, is missing; copy it into the "
            "folder of that file"
        )
    samples = load_samples(samples_path)
    try:
        costs = _load_costs(samples_path, samples.ranks)
        found = _make_probed(path, document, samples_path, samples, costs)
    except (KeyError, ValueError) as odd:
        raise Error(
            f"{path}: [probe] is not in the format of 'topoloom machine probe' "
            f"({odd}); measure the machine again"
        ) from None
    if len(found.host_of) != samples.ranks:
        raise Error(
            f"{path} is of {len(found.host_of)} ranks, but {samples_path} of "
            f"{samples.ranks}: not from the same measurement"
        )
    return found


def _load_costs(path: Path, ranks: int) -> NDArray[np.float64]:
    costs = load_cost_matrix(path)
    if costs.shape != (ranks, ranks):
        raise Error(f"{path}: costs are not those of {ranks} ranks; measure again")
    return costs


def _make_probed(
    path: Path,
    document: Mapping[str, Any],
    samples_path: Path,
    samples: ProbeSamples,
    costs: NDArray[np.float64],
) -> ProbedMachine:
    probed, topology = document["probe"], document["topology"]
    machine, described = load_machine_and_description(path)
    nodes = [probed["hosts"].index(host) for host in described.hosts]
    hops = np.zeros((len(nodes), len(nodes)), dtype=np.int64)
    hops[np.ix_(nodes, nodes)] = machine.hop_matrix(range(len(nodes)))
    is_graph = topology["kind"] == "graph" and not topology.get("switches")
    return ProbedMachine(
        path,
        document.get("name", path.name),
        nodes,
        hops if is_graph else None,
        samples_path,
        samples,
        costs,
        [str(host) for host in probed["hosts"]],
        [int(host) for host in probed["host_of"]],
        read_groups(probed["groups"], probed["host_of"]),
        read_evidence(probed["evidence"]),
        [_read_level(table) for table in probed["models"]],
        [_read_channels(table) for table in probed["channels"]],
        [str(link["text"]) for link in probed["shared_links"]],
        probed.get("pairs_met"),
        [
            Suspect(
                table["kind"],
                table["hosts"],
                table["of"],
                float(table["times_as_long"]),
                table.get("measurements", 0),
                table["direction"],
            )
            for table in probed["suspects"]
        ],
        probed.get("noise"),
        list(probed["doubts"]),
        list(probed["claims"]),
        tuple(map(str, probed["command"])),
    )


def _read_level(table: Mapping[str, Any]) -> LevelModel:
    alone, burst = (
        _read_curve(table[name]) if name in table else None
        for name in ("alone", "burst")
    )
    return LevelModel(
        table["level"], float(table["short_seconds"]), alone, burst, table
    )


def _read_curve(table: Mapping[str, Any]) -> TimeCurve:
    return TimeCurve(
        bool(table["largest"]),
        [_read_line(line) for line in table["lines"]],
        np.array(table["sizes"], dtype=np.float64),
        np.array(table["measured_seconds"], dtype=np.float64),
    )


def _read_line(table: Mapping[str, Any]) -> FittedLine:
    return FittedLine(
        float(table["alpha_seconds"]),
        _read_interval(table.get("alpha_interval_seconds")),
        float(table["beta_seconds_per_byte"]),
        _read_interval(table.get("beta_interval_seconds_per_byte")),
        table.get("most_bytes"),
        _read_interval(table.get("most_interval_bytes")),
    )


def _read_interval(ends: Sequence[float] | None) -> Interval | None:
    if ends is None:
        return None
    low, high = ends
    return float(low), float(high)


def _read_channels(table: Mapping[str, Any]) -> PairLimit:
    totals = table["totals"]
    return PairLimit(
        table["pattern"],
        int(table["channels"]),
        table.get("channels_at_most"),
        float(table["node_bandwidth"]),
        [int(row["pairs"]) for row in totals],
        [float(row["bytes_per_second"]) for row in totals],
        [int(row["samples"]) for row in totals],
    )
