# SPDX-License-Identifier: BSD-3-Clause
"""A job that reorders its ranks gets a machine file and options."""

from __future__ import annotations

import numpy as np
import pytest

import topoloom
from topoloom.cli.options.searches import read_search
from topoloom.preload.mpi_library import format_machine_file
from topoloom.tasks.reordered_run import ReorderOptions


def allocate(hosts: tuple[str, ...] | None) -> topoloom.allocations.AllocatedHosts:
    machine = topoloom.Machine("torus:4x2")
    nodes = np.array([5, 2], np.uint32)
    return topoloom.allocations.AllocatedHosts(
        topoloom.Allocation(machine, nodes), hosts
    )


def test_a_machine_file_names_the_hosts_of_its_nodes() -> None:
    text = format_machine_file(allocate(("n7", "n3.site")))
    assert text == "machine torus:4x2\nnode 5 n7\nnode 2 n3.site\n"


def test_a_machine_file_needs_hosts() -> None:
    with pytest.raises(topoloom.Error, match="host names are unknown"):
        format_machine_file(allocate(None))


@pytest.mark.parametrize(
    ("mapper", "expected"),
    [
        ("auto", None),
        ("mahd+anneal(sweeps=4,restarts=2)+swap",) * 2,
    ],
)
def test_mappers_other_than_auto_become_options(
    mapper: str, expected: str | None
) -> None:
    request = ReorderOptions(mapper, "hop-bytes", read_search(3, "1500ms"))
    options = request.list_changes()
    assert options.pop("mapper", None) == expected
    assert options == {"seed": "3", "seconds": "2"}


@pytest.mark.parametrize(("time", "seconds"), [("0", "1"), ("30h", "86400")])
def test_search_times_are_between_a_second_and_a_day(time: str, seconds: str) -> None:
    request = ReorderOptions("auto", "congestion", read_search(1, time))
    assert request.list_changes() == {"objective": "congestion", "seconds": seconds}
