# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ai spares` finds the spare host that best replaces a lost one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

#: 12 hosts of 4 GPUs, of which the job needs 8.
AXES = (
    *("ai", "axes", "--mesh", "tp=8,dp=4", "--traffic", "tp=9GB,dp=4GB"),
    *("-m", "rails:4:4:4,bandwidth=50GB/s,bandwidth.spine=10GB/s", "-N", "12"),
    *("--write-graph", "p.npz", "-o", "x.json"),
)


@pytest.fixture
def job(topoloom: Command) -> Command:
    assert topoloom(*AXES).status == 0
    return topoloom


def test_every_host_has_a_best_spare(job: Command) -> None:
    found = job("ai", "spares", "x.json", "--json").json
    assert (len(found["order"]), len(found["spares"])) == (8, 4)
    for restart, lost in found["lost"].items():
        assert [one["host"] for one in lost] == found["order"]
        for one in lost:
            assert one["spare"] in found["spares"]
            assert one["host"] not in one["order"]
            assert sorted(one["order"], key=int) == one["order"] or (
                restart == "in-place"
            )
    rows = job("ai", "spares", "x.json").out.splitlines()[3:11]
    assert [row.split()[0] for row in rows] == found["order"]


def test_the_order_after_a_loss_is_an_allocation(job: Command) -> None:
    found = job("ai", "spares", "x.json", "--json").json
    lost = found["order"][3]
    for restart in ("in-place", "sorted"):
        words = ("--lost", lost, "--restart", restart)
        printed = job("ai", "spares", "x.json", *words).out.split()
        assert printed == found["lost"][restart][3]["order"]


def test_wrong_hosts_and_restarts_are_one_line(job: Command) -> None:
    found = job("ai", "spares", "x.json", "--lost", "99")
    assert found.status == 2
    assert found.err.strip().endswith("--lost 99 is not a host of the job's ranks")
    found = job("ai", "spares", "x.json", "--restart", "later")
    assert found.status == 2
    assert "no restart 'later'; there are: in-place, sorted" in found.err
