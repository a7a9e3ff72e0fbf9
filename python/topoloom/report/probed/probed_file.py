# SPDX-License-Identifier: BSD-3-Clause
"""The file of a probe, and its samples, as the page needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.machines.machine_file import load_described
from topoloom.probe.inference.groups import RankGroup
from topoloom.probe.job.samples import ProbeSamples, load_cost_matrix, load_samples
from topoloom.probe.job.table import probe_table
from topoloom.report.probed.groups import Evidence, read_evidence, read_groups
from topoloom.support.toml_document import read_toml
from topoloom.support.units import format_bandwidth

Interval = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """Messages of up to `most` bytes take alpha + beta m seconds; None: all others.

    Intervals are of 95 %, and None where two sizes alone are on the line; that of
    `most` lies between two measured sizes.
    """

    alpha: float
    alpha_interval: Interval | None
    beta: float
    beta_interval: Interval | None
    most: int | None
    most_interval: Interval | None


@dataclass(frozen=True)
class Curve:
    """Seconds by size, as measured and as lines."""

    largest: bool  # of the lines counts
    lines: list[Line]
    sizes: NDArray[np.float64]
    measured: NDArray[np.float64]

    def seconds(self, size: float) -> float:
        """Return what the lines say of a size."""
        if self.largest:
            return max(line.alpha + line.beta * size for line in self.lines)
        for line in self.lines:
            if line.most is None or size <= line.most:
                break
        return line.alpha + line.beta * size

    @property
    def errors(self) -> NDArray[np.float64]:
        """What the lines say too much of each size, as a part of what was measured."""
        said = np.array([self.seconds(size) for size in self.sizes.tolist()])
        found: NDArray[np.float64] = said / self.measured - 1
        return found


@dataclass(frozen=True)
class LevelModel:
    """What messages of a level cost.

    Attributes
    ----------
    short
        Seconds of a message of the scan.
    alone, burst
        Half a round trip; from one message of a burst to the next.
    values
        The numbers of ``models`` by their keys, and ``unexpected``.
    """

    name: str
    short: float
    alone: Curve | None
    burst: Curve | None
    values: Mapping[str, Any]

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second of the longest messages."""
        return self.values.get("bytes_per_second")


@dataclass(frozen=True)
class Channels:
    """Pairs at once: how many do not slow each other down, and what all exchange."""

    pattern: str
    channels: int
    at_most: int | None
    bandwidth: float
    pairs: list[int]
    totals: list[float]
    samples: list[int]

    @property
    def rows(self) -> list[tuple[int, str, int]]:
        """The table of pairs, their total, and samples."""
        totals = map(format_bandwidth, self.totals)
        return list(zip(self.pairs, totals, self.samples, strict=True))


@dataclass(frozen=True)
class Suspect:
    """What is slower than its like."""

    kind: str
    hosts: list[str]
    of: str
    factor: float
    measurements: int
    direction: str = ""


@dataclass(frozen=True)
class Probed:
    """A machine that was measured.

    Attributes
    ----------
    path
        Its file.
    name
        Of the machine, as the file has it.
    nodes
        Hosts in the order of the machine's nodes.
    hops : int array of shape ``(hosts, hosts)``
        Links between hosts that are linked to each other, since no tree of groups
        fits; None of a tree.
    costs
        Seconds of a short message between ranks, of shape ``(ranks, ranks)``; NaN where
        that was not measured.
    root
        All ranks in groups.
    evidence
        Of a group, by its ranks.
    shared_links
        Sentences.
    pairs_met
        The share of pairs of pairs of near hosts that were measured at once.
    """

    path: Path
    name: str
    nodes: list[int]
    hops: NDArray[np.int64] | None
    samples_path: Path
    samples: ProbeSamples
    costs: NDArray[np.float64]
    hosts: list[str]
    host_of: list[int]
    root: RankGroup
    evidence: Mapping[tuple[int, ...], Evidence]
    levels: list[LevelModel]
    channels: list[Channels]
    shared_links: list[str]
    pairs_met: float | None
    suspects: list[Suspect]
    noise: float | None
    doubts: list[str]
    claims: list[str]
    command: tuple[str, ...]

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.host_of)

    @property
    def has_neighbors(self) -> bool:
        """Whether hosts are linked to each other, not to switches."""
        return self.hops is not None


def read_probed(path: Path) -> Probed:
    """Read the file of a probe and its samples.

    Raises
    ------
    topoloom.Error
        If the file is not that of a probe, or its samples are not there.
    OSError
        If a file cannot be read.
    """
    document = read_toml(path)
    if "probe" not in document:
        raise Error(
            f"{path} is not measured; 'topoloom probe -o {path.name} -- mpirun -n 64' "
            f"measures a machine, 'topoloom machine {path}' shows this one"
        )
    probed = probe_table(document, path)
    samples_path = path.parent / probed["samples"]
    if not samples_path.exists():
        raise Error(
            f"{samples_path} is missing, the samples of {path}; put it beside that file"
        )
    samples = load_samples(samples_path)
    try:
        costs = _costs(samples_path, samples.ranks)
        found = _probed(path, document, samples_path, samples, costs)
    except (KeyError, ValueError) as odd:
        raise Error(
            f"{path}: [probe] is not as 'topoloom probe' writes it ({odd}); "
            "measure the machine again"
        ) from None
    if len(found.host_of) != samples.ranks:
        raise Error(
            f"{path} is of {len(found.host_of)} ranks, but {samples_path} of "
            f"{samples.ranks}; they are not of one measurement"
        )
    return found


def _costs(path: Path, ranks: int) -> NDArray[np.float64]:
    costs = load_cost_matrix(path)
    if costs.shape != (ranks, ranks):
        raise Error(f"{path}: costs are not those of {ranks} ranks; measure again")
    return costs


def _probed(
    path: Path,
    document: Mapping[str, Any],
    samples_path: Path,
    samples: ProbeSamples,
    costs: NDArray[np.float64],
) -> Probed:
    probed, topology = document["probe"], document["topology"]
    machine, described = load_described(path)
    nodes = [probed["hosts"].index(host) for host in described.hosts]
    hops = np.zeros((len(nodes), len(nodes)), dtype=np.int64)
    hops[np.ix_(nodes, nodes)] = machine.hop_matrix(range(len(nodes)))
    is_graph = topology["kind"] == "graph" and not topology.get("switches")
    return Probed(
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
        [_level(table) for table in probed["models"]],
        [_channels(table) for table in probed["channels"]],
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


def _level(table: Mapping[str, Any]) -> LevelModel:
    alone, burst = (
        _curve(table[name]) if name in table else None for name in ("alone", "burst")
    )
    return LevelModel(table["level"], float(table["short_s"]), alone, burst, table)


def _curve(table: Mapping[str, Any]) -> Curve:
    return Curve(
        bool(table["largest"]),
        [_line(line) for line in table["lines"]],
        np.array(table["sizes"], dtype=np.float64),
        np.array(table["measured_s"], dtype=np.float64),
    )


def _line(table: Mapping[str, Any]) -> Line:
    return Line(
        float(table["alpha_s"]),
        _interval(table.get("alpha_interval_s")),
        float(table["beta_s_per_byte"]),
        _interval(table.get("beta_interval_s_per_byte")),
        table.get("most_bytes"),
        _interval(table.get("most_interval_bytes")),
    )


def _interval(ends: Sequence[float] | None) -> Interval | None:
    if ends is None:
        return None
    low, high = ends
    return float(low), float(high)


def _channels(table: Mapping[str, Any]) -> Channels:
    totals = table["totals"]
    return Channels(
        table["pattern"],
        int(table["channels"]),
        table.get("channels_at_most"),
        float(table["node_bandwidth"]),
        [int(row["pairs"]) for row in totals],
        [float(row["bytes_per_second"]) for row in totals],
        [int(row["samples"]) for row in totals],
    )
