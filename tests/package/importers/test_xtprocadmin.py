# SPDX-License-Identifier: BSD-3-Clause
"""Cray XC machines from xtprocadmin."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.cray.xtprocadmin import read_xtprocadmin
from topoloom.machines.import_formats import IMPORTERS

HEAD = "   NID    (HEX)    NODENAME     TYPE    STATUS        MODE\n"


def format_row(nid: int, name: str, rest: str = "compute        up interactive") -> str:
    return f"{nid:6} {nid:#8x} {name:>12} {rest}\n"


def list_cabinet_rows(count: int, chassis: int = 3, blades: int = 16) -> list[str]:
    names = [
        f"c{column}-0c{cage}s{slot}n{node}"
        for column in range(count)
        for cage in range(chassis)
        for slot in range(blades)
        for node in range(4)
    ]
    return [format_row(nid, name) for nid, name in enumerate(names)]


def test_full_cabinets_are_a_tree_of_blades_chassis_and_groups() -> None:
    text = HEAD + "".join(list_cabinet_rows(4))
    (importer,) = (entry for entry in IMPORTERS if entry.recognizes(text))
    described = importer.read(text)
    assert described.text == "tree:4:16:6:2"
    assert described.hosts == tuple(f"nid{i:05}" for i in range(768))
    machine = Machine(described.text)
    assert [machine.hops(0, node) for node in (3, 4, 64, 384)] == [2, 4, 6, 8]


def test_one_group_has_no_switch_above_it() -> None:
    assert read_xtprocadmin(HEAD + "".join(list_cabinet_rows(2))).text == "tree:4:16:6"


def test_a_service_blade_makes_the_machine_a_graph() -> None:
    text = HEAD + format_row(0, "c0-0c0s0n1", "service up batch")
    text += format_row(4, "c0-0c0s1n0") + format_row(
        5, "c0-0c0s1n1", "compute down batch"
    )
    text += HEAD + format_row(8, "c0-0c1s15n2", "")
    described = read_xtprocadmin(text)
    # Vertices 3 and 4 are blades, 5 and 7 their chassis, 6 the group.
    assert described.text == "graph:3+5:0-3,1-3,2-4,5-3,6-5,6-7,7-4"
    assert described.hosts == ("nid00004", "nid00005", "nid00008")


@given(st.randoms(use_true_random=False), st.integers(0, 100))
def test_the_order_of_rows_does_not_matter(
    rng: random.Random, missing_rows: int
) -> None:
    rows = list_cabinet_rows(3, chassis=1, blades=9)
    del rows[missing_rows]
    shuffled = rng.sample(rows, len(rows))
    described = read_xtprocadmin(HEAD + "".join(rows))
    again = read_xtprocadmin(HEAD + "".join(shuffled))
    assert again.hosts == described.hosts
    assert again.text == described.text
    assert len(described.hosts) == 107


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file contains no compute node"),
        (HEAD + "12 0xd c0-0c0s3n0 compute", "line 2: NID 12 is not 0xd, which is 13"),
        (HEAD + "12 twelve c0-0c0s3n0", "line 2: 'twelve' is not a number"),
        (HEAD + "12 0xc", "line 2: expected a node"),
        (HEAD + "nid 0xc c0-0c0s3n0", "line 2: expected a node"),
        (
            HEAD + format_row(1, "r0-0c0s0n0"),
            "line 2: 'r0-0c0s0n0' is not a node of an XC",
        ),
        (
            HEAD + format_row(1, "c0-0c3s0n0"),
            "line 2: 'c0-0c3s0n0' is not a node of an XC",
        ),
        (
            HEAD + format_row(1, "c0-0c0s0n0") * 2,
            "line 3: nid00001 is listed twice, first .* 2",
        ),
        (
            HEAD + format_row(1, "c0-0c0s0n0") + format_row(2, "c0-0c0s0n0"),
            "line 3: c0-0c0s0n0 is lis",
        ),
        (
            HEAD + "".join(list_cabinet_rows(2, blades=8)),
            "line 2: no blade is in a slot above 7",
        ),
    ],
)
def test_invalid_xtprocadmin_listings_are_refused_by_line(
    text: str, message: str
) -> None:
    with pytest.raises(Error, match=f"^{message}"):
        read_xtprocadmin(text)
