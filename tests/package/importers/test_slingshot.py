# SPDX-License-Identifier: BSD-3-Clause
"""HPE Cray EX machines from the locations of hosts in Slingshot."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.cray.slingshot import read_slingshot, recognizes_slingshot
from topoloom.machines.import_formats import IMPORTERS

#: output of shasta_addr on two nodes with two NICs each
CARDS = """\
frontier00001 NIC 0 macaddr 02:00:00:00:08:b3 logaddr 00559 location 001.02.15
frontier00001 NIC 1 macaddr 02:00:00:00:08:f3 logaddr 00575 location 001.03.15
frontier00002 NIC 0 macaddr 02:00:00:00:08:b2 logaddr 00558 location 001.02.14
frontier00002 NIC 1 macaddr 02:00:00:00:08:f2 logaddr 00574 location 001.03.14
"""


def format_address(group: int, switch: int, port: int) -> str:
    number = (group << 11) + (switch << 6) + port
    return ":".join(f"{byte:02x}" for byte in (2 << 40 | number).to_bytes(6, "big"))


def list_cabinet_hosts(number: int, chassis: int = 8, slots: int = 8) -> list[str]:
    return [
        f"x{number}c{c}s{s}b{b}n0"
        for c, s, b in itertools.product(range(chassis), range(slots), range(2))
    ]


XNAMES = "".join(
    f"nid{i:06} {name}\n"
    for i, name in enumerate(list_cabinet_hosts(1000) + list_cabinet_hosts(1001))
)
BARE = "# node group\nn1 4\nn2 4\nn3 7\n"
SWITCHES = "".join(f"n{i} {i // 8} {i // 2}\n" for i in range(32))


def test_full_cabinets_are_groups_of_8_chassis() -> None:
    (importer,) = (entry for entry in IMPORTERS if entry.recognizes(XNAMES))
    described = importer.read(XNAMES)
    assert described.text == "tree:16:8:2"
    assert described.hosts == tuple(f"nid{i:06}" for i in range(256))
    machine = Machine(described.text)
    assert [machine.hops(0, node) for node in (15, 16, 128)] == [2, 4, 6]


def test_a_given_group_replaces_the_cabinet() -> None:
    text = "".join(
        f"{name} {i // 32}\n" for i, name in enumerate(list_cabinet_hosts(2000, 4))
    )
    assert read_slingshot(text).text == "tree:16:2:2"


def test_hosts_can_be_named_by_xnames() -> None:
    text = "x4706c6s1b0n0.hsn.cm.example.org\nx4706c6s0b0n0.hsn.cm.example.org\n"
    described = read_slingshot(text)
    assert described.hosts == tuple(text.split())
    assert described.text == "tree:2:1"


def test_hosts_with_nics_on_the_same_switches_are_neighbors() -> None:
    described = read_slingshot(CARDS)
    assert described.text == "tree:2:1"
    assert described.hosts == ("frontier00001", "frontier00002")
    third = CARDS + f"frontier00003 {format_address(2, 2, 0)}\n"
    # Vertices 3 and 4 are switches, 5 and 7 their groups; 6 joins the groups.
    assert read_slingshot(third).text == "graph:3+5:0-3,1-3,2-4,5-3,6-5,6-7,7-4"


@given(st.integers(0, 511), st.integers(0, 31), st.integers(0, 63))
def test_an_address_gives_group_and_switch(group: int, switch: int, port: int) -> None:
    by_address = (
        f"a {format_address(group, switch, port)}\nb {format_address(0, 0, 0)}\n"
    )
    by_number = f"a {group} {switch}\nb 0 0\n"
    assert read_slingshot(by_address) == read_slingshot(by_number)


def test_group_and_switch_numbers_are_levels() -> None:
    assert read_slingshot(SWITCHES).text == "tree:2:4:4"
    assert read_slingshot(BARE).text == "graph:3+3:0-3,1-3,2-4,5-3,5-4"


def test_an_allocation_is_not_read_as_groups() -> None:
    assert not recognizes_slingshot("login1 17\nlogin2 18\n")
    assert recognizes_slingshot(BARE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no line contains the location"),
        ("n1 x1000c9s0b0n0\n", "line 1: expected a host and its location"),
        ("n1 02:00:00:00:08\n", "line 1: expected a host and its location"),
        ("n1 00:40:a6:82:f7:5b\n", "line 1: expected a host and its location"),
        ("n1 1\nn1 1\n", "line 2: host n1 is listed twice, first on line 1"),
        ("n1 1\nn2 1\nn1 2\n", "line 3: host n1 is in group 2, but line 1 has it in"),
        (
            "n1 x1000c0s0b0n0\nn2 x1000c0s0b0n0\n",
            "line 2: n2 and n1 \\(line 1\\) are both at x1000c0s0b0n0; keep one",
        ),
        ("n1 1\nn2 1 4\n", "line 2: host n2 and the host on line 1 must"),
        (
            f"n1 {format_address(1, 2, 3)}\nn1 {format_address(2, 2, 3)}\n",
            "line 2: host n1 is in group 2, but line 1 has it in group 1",
        ),
    ],
)
def test_invalid_slingshot_lines_are_refused(text: str, message: str) -> None:
    with pytest.raises(Error, match=f"^{message}"):
        read_slingshot(text)
