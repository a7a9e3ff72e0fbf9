# SPDX-License-Identifier: BSD-3-Clause
"""Machines from ibnetdiscover: hosts, cables, rates, forwarding tables."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from fat_tree_dump import FabricDump, count_hops, draw_fabric, get_device_host
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.allocations.described_allocation import described_allocation
from topoloom.importers.infiniband.ibnetdiscover import read_ibnetdiscover
from topoloom.importers.machine_description import MachineDescription
from topoloom.machines.import_formats import IMPORTERS

CAPTURE = """\
#
# Topology file: generated on Thu Mar  7 10:12:44 2024
#
# Initiated from node 0002c9030002f0a4 port 0002c9030002f0a5

vendid=0x2c9
devid=0xbd36
sysimgguid=0x2c90200415673
switchguid=0x2c90200415670(2c90200415670)
Switch\t36 "S-0002c90200415670"\t\t# "MF0;sw:1 "a":U1" enhanced port 0 lid 2 lmc 0
[1]\t"H-0002c9030002f0a4"[1](2c9030002f0a5) \t\t# "n2 HCA-1" lid 1 4xQDR
[2]\t"H-0002c9030002f0b4"[1](2c9030002f0b5) \t\t# "n10 HCA-1" lid 3 4xQDR
[3]\t"H-0002c9030002f0b4"[2](2c9030002f0b6) \t\t# "n10 HCA-1" lid 4 4xQDR
[7][ext 4]\t"S-0002c90200415680"[8]\t\t# "sw2" lid 5 4xFDR10
[9]\t"S-0002c90200415680"[9]\t\t# "sw2" lid 5 4xQDR
[36]\t"S-0002c90200415670"[35]\t\t# "MF0;sw:1" lid 2 4xQDR
[35]\t"S-0002c90200415670"[36]\t\t# "MF0;sw:1" lid 2 4xQDR

vendid=0x2c9
switchguid=0x2c90200415680(2c90200415680)
Switch\t36 "S-0002c90200415680"\t\t# "sw2" base port 0 lid 5 lmc 0
[8]\t"S-0002c90200415670"[7][ext 4]\t\t# "MF0;sw:1 "a":IS5030/U1" lid 2 4xFDR10
[9]\t"S-0002c90200415670"[9]\t\t# "MF0;sw:1 "a":IS5030/U1" lid 2 4xQDR
[1]\t"H-0002c9030002f0c4"[1](2c9030002f0c5) \t\t# "MT25408 ConnectX" lid 6 4xFDR
[2]\t"H-0002c9030002f0d4"[1](2c9030002f0d5) \t\t# "n2 HCA-2" lid 7 4xQDR
[41]\t"H-0002c9030002f0e4"[1](2c9030002f0e5) \t\t# "Aggregation Node" lid 8 4xQDR

vendid=0x2c9
caguid=0x2c9030002f0e4
Ca\t1 "H-0002c9030002f0e4"\t\t# "Mellanox Technologies Aggregation Node"
[1](2c9030002f0e5) \t"S-0002c90200415680"[41]\t\t# lid 8 lmc 0 "sw2" lid 5 4xQDR

caguid=0x2c9030002f0d4
Ca\t1 "H-0002c9030002f0d4"\t\t# "n2 HCA-2"
[1](2c9030002f0d5) \t"S-0002c90200415680"[2]\t\t# lid 7 lmc 0 "sw2" lid 5 4xQDR

caguid=0x2c9030002f0c4
Ca\t1 "H-0002c9030002f0c4"\t\t# "MT25408 ConnectX Mellanox"
[1](2c9030002f0c5) \t"S-0002c90200415680"[1]\t\t# lid 6 lmc 0 "sw2" lid 5 4xFDR

caguid=0x2c9030002f0b4
Ca\t2 "H-0002c9030002f0b4"\t\t# "n10 HCA-1"
[1](2c9030002f0b5) \t"S-0002c90200415670"[2]\t\t# lid 3 lmc 0 "MF0;sw:1" lid 2 4xQDR
[2](2c9030002f0b6) \t"S-0002c90200415670"[3]\t\t# lid 4 lmc 0 "MF0;sw:1" lid 2 4xQDR

caguid=0x2c9030002f0a4
Ca\t2 "H-0002c9030002f0a4"\t\t# "n2 HCA-1"
[1](2c9030002f0a5) \t"S-0002c90200415670"[1]\t\t# lid 1 lmc 0 "MF0;sw:1" lid 2 4xQDR
"""


def test_a_capture_with_irregularities_of_real_fabrics_is_read() -> None:
    (importer,) = (entry for entry in IMPORTERS if entry.recognizes(CAPTURE))
    described = importer.read(CAPTURE)
    # An adapter has no host name; n2 sorts before n10 and has two adapters.
    assert described == MachineDescription(
        "graph:3+2:0-3,0-4,1-3@8GB/s,2-4@6.81818182GB/s,3-4@9GB/s,bandwidth=4GB/s,"
        "forward=no,routing=ecmp",
        ("n2", "n10", "vacant_2"),
        remarks=(
            "1 aggregation node in switches omitted",
            "1 adapter without a host name: vacant places; a --node-name-map names "
            "them",
            "assumed: all shortest routes share (ECMP); not a regular fat tree: n2 is "
            "cabled to 2 devices",
        ),
        switches=("sw", "sw2"),
    )
    assert Machine(described.text).link_count == 10


@pytest.mark.parametrize(
    ("rate", "bandwidth"),
    [
        ("1xSDR", "0.25"),
        ("4xSDR", "1"),
        ("12xDDR", "6"),
        ("4xQDR", "4"),
        ("4xFDR10", "5"),
        ("4xFDR", "6.81818182"),
        ("4xEDR", "12.5"),
        ("4xHDR", "25"),
        ("2xHDR", "12.5"),
        ("4xNDR", "50"),
        ("4xXDR", "100"),
    ],
)
def test_a_rate_is_the_rate_of_all_lanes_after_encoding(
    rate: str, bandwidth: str
) -> None:
    fabric = FabricDump()
    fabric.add_cable(
        fabric.add_adapter("a mlx5_0"), fabric.add_adapter("b mlx5_0"), rate
    )
    text = read_ibnetdiscover(fabric.format_dump()).text
    assert text == f"graph:2+0:0-1,bandwidth={bandwidth}GB/s"


def replace_in_capture(old: str, new: str) -> str:
    assert CAPTURE.count(old) == 1
    return CAPTURE.replace(old, new)


def remove_from_capture(start: str) -> str:
    lines = CAPTURE.splitlines(keepends=True)
    lines_left = [line for line in lines if not line.startswith(start)]
    assert len(lines_left) == len(lines) - 1
    return "".join(lines_left)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no Switch, Ca or Rt line"),
        ("# only comments\n", "line 1: no Switch, Ca or Rt line"),
        ('[1]\t"S-0002c90200415680"[8]\t# "a" lid 1 4xQDR', "line 1: a port before"),
        ("Ca\t: 0x0002c9 ports 1", "line 1: 'Ca.*' is not of ibnetdiscover's"),
        (
            remove_from_capture("[8]"),
            r"line 14: .*\[7\] to .*\[8\] is listed at this end only",
        ),
        (
            remove_from_capture('[2]\t"H-0002c9030002f0d4"'),
            "line 34: .* at this end only",
        ),
        (
            CAPTURE[: CAPTURE.index("caguid=0x2c9030002f0a4")],
            "line 11: the cable leads to H-0002c9030002f0a4, which has no block",
        ),
        (
            replace_in_capture('"[8]\t', '"[9]\t'),
            r"line 14: S-0002c90200415680\[9\] is joined to S-0002c90200415670\[7\] "
            r"here, but to S-0002c90200415670\[9\] on line 23",
        ),
        (
            replace_in_capture("lid 1 4xQDR", "lid 1 4xWDR"),
            "line 11: no width and speed",
        ),
        (replace_in_capture("lid 1 4xQDR", "lid 1"), "line 11: no width and speed"),
        (
            replace_in_capture(
                '[9]\t"S-0002c90200415680"[9]', '[7]\t"S-0002c90200415680"[9]'
            ),
            "line 15: port 7 of S-0002c90200415670 is listed twice, first on line 14",
        ),
        (
            replace_in_capture('[9]\t"S-0002c90200415680"[9]', '[9]\t"S-2"[9]'),
            "line 15: cannot read the port",
        ),
        (CAPTURE + CAPTURE, r"line 58: S-0002c90200415670 is listed twice, .* 10"),
        (
            CAPTURE.replace("HCA-2", "HCA-1"),
            "line 34: the adapter calls itself 'n2 HCA-1', as does that on line 47",
        ),
        ('Switch\t36 "S-0002c90200415670"\t# "s"', "line 1: no adapter"),
    ],
)
def test_a_wrong_dump_is_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(Error, match=f"^{message}"):
        read_ibnetdiscover(text)


def read_capture(text: str) -> MachineDescription:
    (importer,) = (entry for entry in IMPORTERS if entry.recognizes(text))
    return importer.read(text)


def test_an_adapter_without_a_host_name_is_a_vacant_place() -> None:
    text = (Path(__file__).parent / "data" / "guid.txt").read_text()
    described = read_capture(text)
    assert described.hosts == ("n1", "vacant_1")
    (remark,) = described.remarks
    assert remark.startswith("1 adapter without a host name: vacant places")
    allocation = described_allocation(Machine(described.text), described)
    assert allocation.hosts == ("n1",)
    # Without any name, nodes have none, and no GUID is exported as a host.
    unnamed = read_capture(text.replace("n1 mlx5_0", "MT4129 ConnectX7"))
    assert unnamed.hosts == ()
    assert unnamed.remarks[0].startswith("2 adapters without a host name: nodes with")


def test_adapters_of_one_board_are_one_host() -> None:
    text = (Path(__file__).parent / "data" / "guid.txt").read_text()
    joined = text.replace("caguid=", "sysimgguid=0x20\ncaguid=")
    described = read_capture(joined)
    assert described.hosts == ("n1",)
    assert described.remarks == ()
    twice = joined.replace("MT4129 ConnectX7   Mellanox Technologies", "n1 mlx5_0")
    assert read_capture(twice).hosts == ("n1",)


def test_the_lower_rate_of_a_cable_is_taken() -> None:
    described = read_capture(
        replace_in_capture('"n2 HCA-1" lid 1 4xQDR', '"n2 HCA-1" lid 1 4xDDR')
    )
    assert "graph:3+2:0-3,0-4@4GB/s" in described.text
    assert "bandwidth=2GB/s" in described.text
    assert described.remarks[0].startswith("the ends of 1 cable disagree in width")


def test_lines_in_front_of_a_dump_are_skipped() -> None:
    described = read_capture(f"src/query_smp.c:196; umad (DR path 0) Error\n{CAPTURE}")
    assert described.hosts == ("n2", "n10", "vacant_2")
    assert described.remarks[0] == (
        "1 line in front of the output of ibnetdiscover skipped"
    )


def test_two_fabrics_are_refused() -> None:
    fabric = FabricDump()
    for host in "ab":
        fabric.add_cable(
            fabric.add_switch(f"s{host}"), fabric.add_adapter(f"{host} mlx5_0")
        )
    with pytest.raises(Error, match=r"^line \d+: no cables lead from host b to host a"):
        read_ibnetdiscover(fabric.format_dump())


@given(draw_fabric(), st.randoms(use_true_random=False))
def test_any_fabric_is_read_with_its_wiring(
    fabric: FabricDump, rng: random.Random
) -> None:
    described = read_ibnetdiscover(fabric.format_dump())
    order = list(fabric.description)
    rng.shuffle(order)
    assert read_ibnetdiscover(fabric.format_dump(order)) == described
    machine = Machine(described.text)
    lanes = {"4xEDR": 12.5e9, "4xHDR": 25e9, "1xSDR": 0.25e9, "4xFDR": 6.81818182e9}
    names = [*described.hosts, *sorted(d for d in fabric.ports if d[0] == "S")]
    wired: Counter[tuple[str, str]] = Counter()
    for device, ports in fabric.ports.items():
        for peer, _, rate in ports.values():
            wired[get_device_host(fabric, device), get_device_host(fabric, peer)] += (
                lanes[rate]
            )
    read = {
        tuple(names[v] for v in machine.link_ends(link)): machine.bandwidth(link)
        for link in range(machine.link_count)
    }
    assert read == pytest.approx(dict(wired), rel=1e-8)
    for i, start in enumerate(described.hosts):
        hops = count_hops(fabric, start)
        assert [machine.hops(i, j) for j in range(machine.node_count)] == [
            hops[end] for end in described.hosts
        ]
