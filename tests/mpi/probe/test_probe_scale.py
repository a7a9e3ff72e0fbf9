# SPDX-License-Identifier: BSD-3-Clause
"""Probes find groups of hosts from landmarks, in simulated time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from platforms import format_tree, shuffle_hosts, write_launcher

from topoloom.probe.job.probe_job import start_probe_job
from topoloom.probe.large_scan import infer_large, scan_large_job
from topoloom.probe.scan_inference import group_by_host
from topoloom.probe.stages.effort import EFFORTS, Clock
from topoloom.probe.time_estimate import estimate_time, measure_first_round

if TYPE_CHECKING:
    from tests.conftest import Command


def test_landmarks_show_planted_groups(tmp_path: Path) -> None:
    """With more than 32 hosts, not all pairs are measured."""
    sizes = [20, 12, 16]
    order = shuffle_hosts([f"h{host}" for host in range(sum(sizes))])
    effort = EFFORTS["quick"]
    with start_probe_job(
        write_launcher(tmp_path, format_tree(sizes), order, per_host=2)
    ) as job:
        hosts, host_of = group_by_host(job.samples)
        timing = measure_first_round(job, hosts, effort)
        whole, parts = scan_large_job(
            job, hosts, effort, Clock(600), ignore_progress, most_hosts=32, few=32
        )
    assert whole
    found, _ = infer_large(job.samples, hosts, host_of, [], parts)
    groups = {
        frozenset(int(order[host_of[rank]][1:]) for rank in group.ranks)
        for group in found.root.groups
    }
    assert groups == {
        frozenset(range(20)),
        frozenset(range(20, 32)),
        frozenset(range(32, 48)),
    }
    names = [level.name for level in found.levels]
    assert names == [
        "inside a host",
        "between hosts of a group",
        "between groups of level 1",
    ]
    far = found.levels[-1].median
    assert 0.9 * far < timing.short < 1.1 * far
    assert (
        estimate_time([2] * 48, effort, timing)
        .sentence(60)
        .startswith("48 hosts, 96 ranks: ")
    )


def test_topoloom_reports_the_expected_duration(
    topoloom: Command, tmp_path: Path
) -> None:
    words = write_launcher(
        tmp_path, format_tree([4]), [f"h{host}" for host in range(4)]
    )
    done = topoloom("machine", "probe", "--quick", "-o", "m.toml", "--", *words)
    assert done.status == 0, done.err
    (line,) = (each for each in done.err.splitlines() if "rounds" in each)
    assert line.startswith("4 hosts, 4 ranks: all pairs in 3 rounds, about ")
    assert line.endswith("; at most 1 min")


def ignore_progress(_stage: str) -> Callable[[int, int], None]:
    return lambda _done, _all: None
