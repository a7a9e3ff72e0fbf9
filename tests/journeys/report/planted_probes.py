# SPDX-License-Identifier: BSD-3-Clause
"""Writes probe files of synthetic machines with known costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom.model.channels import make_pair_curve
from topoloom.probe.findings import Findings
from topoloom.probe.inference.message_costs import fit_level_costs
from topoloom.probe.inference.suspects import Suspect
from topoloom.probe.job.samples import (
    Exchange,
    Order,
    ProbeSamples,
    RankPlace,
)
from topoloom.probe.scan_inference import infer_findings
from topoloom.probe.stages.scan import SIZE
from topoloom.tasks.machines.probe import save_findings

COMMAND = ("topoloom", "machine", "probe", "-o", "m.toml", "--", "mpirun", "-n", "8")
SIZES = [4**n for n in range(11)]
Costs = NDArray[np.float64]


def make_group_costs(hosts: int, groups: int, near: float, far: float) -> Costs:
    """Return the costs between all pairs of hosts in groups of equal size."""
    group = np.arange(hosts) * groups // hosts
    return np.where(group[:, None] == group, near, far)


def make_torus_costs(extents: Sequence[int], base: float, hop: float) -> Costs:
    """Return the costs between all nodes of a torus: `base`, plus `hop` per hop."""
    at = np.indices(extents).reshape(len(extents), -1).T
    apart = np.abs(at[:, None] - at[None])
    hops = np.minimum(apart, np.array(extents) - apart).sum(axis=2)
    costs: Costs = base + hop * hops
    return costs


def infer_from_scan(costs: Costs, hosts: Sequence[str]) -> Findings:
    """Infer a machine from a synthetic scan with these costs."""
    samples = ProbeSamples(
        [RankPlace(host, str(rank), "Some MPI 1.0") for rank, host in enumerate(hosts)],
        [Order("circle", "echo", [SIZE], 1, f"0 {len(hosts)}")],
    )
    noise = np.random.default_rng(1)
    for a in range(len(hosts)):
        for b in range(a):
            seconds = costs[a, b] * (1 + 0.001 * noise.random(5))
            samples.exchanges.append(
                Exchange(0, "circle", "echo", SIZE, 1, b, a, seconds)
            )
    return infer_findings(samples)


def add_message_sizes(found: Findings) -> Findings:
    """Add message times on two lines: up to 4096 bytes, and beyond."""

    def make_exchange(kind: str, size: int, window: int, seconds: float) -> Exchange:
        return Exchange(0, "alone", kind, size, window, 0, 1, np.full(5, seconds))

    for level in found.levels:

        def compute_single_time(size: int, short: float = level.median) -> float:
            return short + 1e-9 * size if size <= 4096 else 3 * short + 1e-10 * size

        made = [
            make_exchange("echo", size, 1, compute_single_time(size)) for size in SIZES
        ]
        for size in SIZES:
            gap = 1e-6 + 1e-10 * size
            seconds = compute_single_time(size) + compute_single_time(1) + 15 * gap
            made.append(make_exchange("burst", size, 16, seconds))
        costs = fit_level_costs(made)
        assert costs is not None
        found.level_costs[level.name] = costs
    return found


def add_concurrent_pairs(found: Findings, name: str, channels: int) -> Findings:
    """Add times of concurrent pairs; up to `channels` pairs are not slowed down."""
    pairs = [1, 2, 4, 8]
    seconds = [1e-3 * max(1.0, count / channels) for count in pairs]
    found.curves[name] = make_pair_curve(pairs, seconds, 10**7)
    return found


def add_suspect(found: Findings, kind: str, *hosts: str) -> None:
    """Mark a host or a link as 1.5 times slower than its peers."""
    numbers = tuple(found.hosts.index(host) for host in hosts)
    found.suspects.append(Suspect(kind, numbers, "latency", 1.5, 8))


def save_probe(found: Findings, path: Path) -> Path:
    """Write the machine file and its samples."""
    save_findings(path, found, COMMAND)
    return path


def write_tree_probe(
    path: Path, modify: Callable[[Findings], object] = lambda _: None
) -> Path:
    """Write a probe of 16 hosts: 5 us in groups, 9 us between them; n3 is slow."""
    hosts = [f"n{host}" for host in range(16)]
    costs = make_group_costs(16, 2, 5e-6, 9e-6)
    costs[3] *= 1.5
    costs[:, 3] *= 1.5
    found = add_message_sizes(infer_from_scan(costs, hosts))
    add_concurrent_pairs(found, "between groups of level 1", 2)
    add_suspect(found, "host", "n3")
    modify(found)
    return save_probe(found, path)
