# SPDX-License-Identifier: BSD-3-Clause
"""Machines like Fugaku from Tofu coordinates."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.tofu import read_tofu
from topoloom.machines.import_formats import IMPORTERS
from topoloom.nodes.host_text import is_vacant


def list_cells(x: int, y: int, z: int) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, (x, y, z, 2, 3, 2))))


HOSTS = "".join(
    f"c{i:04} {' '.join(map(str, place))}\n"
    for i, place in enumerate(list_cells(2, 1, 2))
)
#: four ranks on each of three nodes, as printed by a program
RANKS = "# rank X Y Z a b c\n" + "".join(
    f"{rank} ({','.join(map(str, place))})\n"
    for rank, place in enumerate(
        place for place in [(4, 0, 3, 0, 0, 0), (4, 0, 3, 0, 1, 0)] for _ in range(4)
    )
)


def test_hosts_are_at_their_six_tofu_coordinates() -> None:
    (importer,) = (entry for entry in IMPORTERS if entry.recognizes(HOSTS))
    described = importer.read(HOSTS)
    assert described.text == "torus:2x1x2x2x3x2,wrap=111010"
    machine = Machine(described.text)
    for host, place in zip(described.hosts, list_cells(2, 1, 2), strict=True):
        assert machine.coordinates(described.hosts.index(host)) == list(place)


def test_ranks_of_a_node_are_one_host_named_after_the_lowest() -> None:
    described = read_tofu(RANKS)
    assert described.text == "torus:5x1x4x2x3x2,wrap=111010"
    named = [host for host in described.hosts if not is_vacant(host)]
    assert named == ["rank0", "rank4"]


def test_the_size_of_a_tofu_system_can_be_specified() -> None:
    described = read_tofu("size 24 23 24\nnode7: 3, 0, 12, 0, 2, 1\n")
    assert described.text == "torus:24x23x24x2x3x2,wrap=111010"
    machine = Machine(described.text)
    assert machine.coordinates(described.hosts.index("node7")) == [3, 0, 12, 0, 2, 1]


@given(st.sets(st.sampled_from(list_cells(3, 2, 3)), min_size=1), st.randoms())
def test_coordinates_without_a_host_have_placeholder_names(
    coordinates: set[tuple[int, ...]], rng: object
) -> None:
    lines = [
        f"h{i} {' '.join(map(str, at))}" for i, at in enumerate(sorted(coordinates))
    ]
    described = read_tofu("\n".join(["size 3 2 3", *lines]))
    assert Machine(described.text).node_count == len(described.hosts) == 216
    assert sum(not is_vacant(host) for host in described.hosts) == len(coordinates)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: there is no line 'HOST X Y Z a b c'"),
        ("size 2 2 2\n", "line 1: there is no line 'HOST X Y Z a b c'"),
        ("n1 1 2 3 0 0\n", "line 1: expected a host and its coordinates"),
        ("n1 1 2 3 0 0 -1\n", "line 1: expected a host and its coordinates"),
        ("n1 1 2 3 0 3 0\n", "line 1: b is 3, but goes to 2"),
        ("n1 1 2 3 0 0 0\nn1 1 2 3 0 0 1\n", "line 2: n1 is at .1,2,3,0,0,1., but"),
        ("n1 1 2 3 0 0 0\nn2 1 2 3 0 0 0\n", "line 2: hosts n2 and n1 .* are both at"),
        ("n1 1 2 3 0 0 0\n4 1 2 3 0 0 1\n", "line 2: '4' is a rank, but other lines"),
        ("size 2 2 2\nn1 1 2 1 0 0 0\n", "line 2: Y is 2, but the size is 2"),
        ("size 2 2 2\nsize 2 2 2\n", "line 2: the size is given twice"),
        ("size 999 999 999\n", "line 1: a torus of 999x999x999x2x3x2 is too large"),
        ("n1 999999 0 0 0 0 0\n", "line 1: a torus of 1000000x1x1x2x3x2 is too large"),
        ("size 0 2 2\nn1 0 0 0 0 0 0\n", "line 1: the size is 0x2x2"),
    ],
)
def test_invalid_tofu_lines_are_refused(text: str, message: str) -> None:
    with pytest.raises(Error, match=f"^{message}"):
        read_tofu(text)
