# SPDX-License-Identifier: BSD-3-Clause
"""Checks hosts; some pairs of hosts cannot be tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from topoloom._core import Error, Machine
from topoloom.probe.check_hosts import check_hosts
from topoloom.probe.job.samples import Exchange, Order, ProbeSamples, RankPlace
from topoloom.probe.locate.machine_parts import MachineParts
from topoloom.probe.reference import CheckReference
from topoloom.probe.stages.effort import EFFORTS, Clock

QUICK = EFFORTS["quick"]


class FakeJob:
    """Ranks that measure the times in the reference file, except on one slow host.

    Parameters
    ----------
    cpus CPUs of the ranks on each host. uplink
        Hosts that share a slow link to all other hosts.
    """

    def __init__(
        self, cpus: dict[str, list[str]], slow: str = "", uplink: Sequence[str] = ()
    ) -> None:
        places = [
            RankPlace(h, mask, "MPI") for h, masks in cpus.items() for mask in masks
        ]
        self.samples = ProbeSamples(places)
        self.met: set[str] = set()
        self._slow, self._below = slow, set(uplink)

    def measure(self, orders: Sequence[Order]) -> Any:
        """Return the exchanges that these orders request."""
        before = len(self.samples.exchanges)
        for order in orders:
            self.samples.orders.append(order)
            if order.how == "alone":
                for pair in order.rest.split():
                    self._add_exchange(order, *map(int, pair.split("-")))
        return self.samples.exchanges[before:]

    def _add_exchange(self, order: Order, first: int, second: int) -> None:
        hosts = {self.samples.places[rank].host for rank in (first, second)}
        self.met |= hosts
        seconds = np.array([1e-6 if order.kind == "echo" else 1e-3])
        if self._slow in hosts:
            seconds *= 5000
        if len(hosts & self._below) == 1:
            seconds *= 3
        number = len(self.samples.orders) - 1
        ends = order.sizes[0], order.window, first, second
        self.samples.exchanges.append(
            Exchange(number, order.how, order.kind, *ends, seconds)
        )


def run_check(
    cpus: dict[str, list[str]], names: Sequence[str], slow: str = "", **options: Any
) -> Any:
    times = {"echo": {"near": 1e-6}, "burst": {"near": 1e-3}}
    job: Any = FakeJob(cpus, slow, options.pop("uplink", ()))
    groups = [[*range(len(names))]] if len(names) > 1 else []
    file = CheckReference([*names], options.pop("groups", groups), 1 << 18, times)
    return job, check_hosts(job, file, QUICK, Clock(60), **options)


def make_parts(hosts: Sequence[str]) -> MachineParts:
    return MachineParts(Machine("tree:4:4"), range(len(hosts)), dict(enumerate(hosts)))


def test_the_common_part_of_slow_messages_is_named() -> None:
    names = [f"n{n}" for n in range(16)]
    cpus = {name: ["0"] for name in names}
    groups = [[*range(n, n + 4)] for n in range(0, 16, 4)]

    def find_bad_parts(**more: Any) -> list[list[str]]:
        _, found = run_check(cpus, names, groups=groups, parts_of=make_parts, **more)
        assert found.good is not bool(found.bad_parts)
        return [each["one_of"] for each in found.document()["bad_parts"]]

    # One test uses short messages, the other long messages.
    assert find_bad_parts(slow="n6") == [["host n6", "cable n6 up"]] * 2
    # Hosts are paired only within their group, unless every cable is tested.
    assert find_bad_parts(uplink=names[4:8]) == []
    found = find_bad_parts(uplink=names[4:8], every_part=True)
    assert found == [["cable level 1 group 1 up"]] * 2
    assert find_bad_parts(every_part=True) == []


def test_overcommitted_hosts_are_named_and_others_are_judged() -> None:
    cpus = {"a": ["0"], "b": ["0-1"] * 3, "c": ["0"], "d": ["0"]}
    job, found = run_check(cpus, ["a", "b", "c", "d"], slow="b")
    assert job.met == {"a", "c", "d"}
    assert (found.good, found.hosts, found.crowded) == (True, ["a", "c", "d"], ["b"])
    assert found.document()["crowded_hosts"] == ["b"]
    _, found = run_check(cpus, ["a", "b", "c", "d"], slow="d")
    assert [slow.host for slow in found.slow] == ["d", "d"]


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_overcommitted_hosts_alone_cannot_be_judged(names: list[str]) -> None:
    cpus = {name: ["0-1"] * 4 for name in names}
    with pytest.raises(Error, match="a has 4 ranks on 2 CPUs, which wait for each "):
        run_check(cpus, names)


def test_ranks_of_one_host_are_judged_if_each_has_a_cpu() -> None:
    _, found = run_check({"a": ["0", "1", "2"]}, ["a"])
    assert (found.good, found.unit, found.crowded) == (True, "rank", [])
    assert found.hosts == ["rank 0", "rank 1", "rank 2"]
