# SPDX-License-Identifier: BSD-3-Clause
"""Checks for conditions under which a job's measurements are unreliable."""

from __future__ import annotations

from collections import Counter

from topoloom._core import Error
from topoloom.probe.job.samples import ProbeSamples
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.units import counted

_MAX_CPUS = 1 << 16


def describe_crowded_hosts(samples: ProbeSamples) -> list[str]:
    """Describe why measurements are unreliable: hosts have more ranks than CPUs."""
    return [
        f"{host} has {what}: times there are those of a crowded node"
        for host, what in find_crowded_hosts(samples).items()
    ]


def check_ranks(samples: ProbeSamples) -> None:
    """Check that the ranks of a job can be measured.

    Raises `topoloom.Error` for a single rank, and if hosts have different MPI
    libraries.
    """
    if samples.ranks < 2:
        raise Error("a single rank has no partner; start two or more ranks")
    libraries = {place.library for place in samples.places}
    if len(libraries) > 1:
        by_library = {place.library: place.host for place in samples.places}
        (one, host), (other, there) = list(by_library.items())[:2]
        raise Error(
            f"{host} has {one.replace('_', ' ')[:60]}, but {there} has "
            f"{other.replace('_', ' ')[:60]}; measure hosts with the same MPI"
        )


def find_crowded_hosts(samples: ProbeSamples) -> dict[str, str]:
    """Map each host that has more ranks than CPUs to a description of both numbers."""
    crowded = {}
    ranks = Counter(place.host for place in samples.places)
    for host, count in ranks.items():
        masks = {p.cpus for p in samples.places if p.host == host and p.cpus}
        cpus = {cpu for mask in masks for cpu in expand_ranges(mask, _MAX_CPUS)}
        if cpus and count > len(cpus):
            crowded[host] = f"{counted(count, 'rank')} on {counted(len(cpus), 'CPU')}"
    return crowded
