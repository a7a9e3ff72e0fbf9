# SPDX-License-Identifier: BSD-3-Clause
"""Cray XT, XE and XC machines from xtdb2proc."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine, load_allocation
from topoloom.importers.cray.xtdb2proc import read_xtdb2proc
from topoloom.machines.import_formats import IMPORTERS
from topoloom.nodes.host_text import is_vacant

HEAD = """\
#
# This file lists tables currently in the system database,
#
"""
Router = tuple[int, int, int]


def format_record(
    nid: int,
    at: Router,
    name: tuple[int, int, int, int, int],
    kind: str = "compute",
    status: str = "up",
) -> str:
    """Format node ``c<column>-<row>c<cage>s<slot>n<cpu>`` on the router at `at`."""
    column, row, cage, slot, cpu = name
    x, y, z = at
    return (
        f"cpu={cpu},slot={slot},cage={cage},cabinet=null,cab_position={column},"
        f"cab_row={row},x_coord={x},y_coord={y},z_coord={z},process_slots=4,"
        f"process_slots_free=4,processor_status='{status}',processor_type='{kind}',"
        f"alloc_mode='batch',processor_id={nid},od_allocator_id=0,"
        "next_red_black_switch=null,processor_spec=null\n"
    )


def list_xe_records(
    columns: int, rows: int, service: set[int] | None = None
) -> list[str]:
    """List an XE's nodes: a blade has 4 nodes on 2 Geminis, neighbors along y.

    A cabinet is a plane of z = 3 chassis x 8 blades; columns are along x, rows
    along y.
    """
    nodes = itertools.product(range(columns), range(rows), range(3), range(8), range(4))
    return [
        format_record(
            nid,
            (column, 2 * row + cpu // 2, 8 * cage + slot),
            (column, row, cage, slot, cpu),
            "service" if nid in (service or set()) else "compute",
        )
        for nid, (column, row, cage, slot, cpu) in enumerate(nodes)
    ]


XE = HEAD + "".join(list_xe_records(2, 1, service={0, 1, 6}))
XC = HEAD + "".join(
    format_record(4 * blade + cpu, (0, 0, blade), (0, 0, 0, blade, cpu))
    for blade in range(3)
    for cpu in range(4)
)


def test_two_nodes_share_a_gemini_and_links_in_y_are_half_as_wide() -> None:
    (importer,) = (entry for entry in IMPORTERS if entry.recognizes(XE))
    described = importer.read(XE)
    assert described.text == "torus:2x2x24,nodes=2,bandwidth.y=half"
    machine = Machine(described.text)
    node = {host: i for i, host in enumerate(described.hosts)}
    # Hops from c0-0c0s1n0 to a node on its Gemini, on its blade and in the next
    # cabinet. Each route also has a link to the first Gemini and one from the last.
    hops = [machine.hops(node["nid00004"], node[f"nid{n:05}"]) for n in (5, 7, 100)]
    assert hops == [2 + between for between in (0, 1, 1)]


def test_service_nodes_stay_but_cannot_be_allocated(tmp_path: Path) -> None:
    described = read_xtdb2proc(XE)
    machine = Machine(described.text)
    assert machine.node_count == len(described.hosts) == 192
    assert [host for host in described.hosts if not is_vacant(host)] == sorted(
        (f"nid{nid:05}" for nid in range(192) if nid not in (0, 1, 6)),
        key=described.hosts.index,
    )
    file = tmp_path / "job.txt"
    file.write_text("nid00004\nnid00000\n")
    with pytest.raises(Error, match=r"job.txt:2: the machine has no host nid00000"):
        load_allocation(machine, file, described.hosts)
    file.write_text("nid00004\n0\n")
    with pytest.raises(Error, match=r"job.txt:2: node 0 is vacant"):
        load_allocation(machine, file, described.hosts)


def test_one_node_on_every_seastar_is_a_torus_of_single_nodes() -> None:
    text = "".join(
        format_record(nid, (0, cage, slot), (0, 0, cage, slot, 0))
        for nid, (cage, slot) in enumerate(itertools.product(range(3), range(8)))
    )
    described = read_xtdb2proc(text)
    assert described.text == "torus:1x3x8"
    assert described.hosts == tuple(f"nid{nid:05}" for nid in range(24))


def test_an_xc_is_the_tree_of_its_blades_chassis_and_groups() -> None:
    described = read_xtdb2proc(XC)
    assert described.text == "tree:4:3:1"
    assert described.hosts == tuple(f"nid{nid:05}" for nid in range(12))


def test_nodes_that_are_down_stay_in_the_machine() -> None:
    text = format_record(7, (0, 0, 0), (0, 0, 0, 0, 0), status="down")
    assert read_xtdb2proc(text).hosts == ("nid00007",)


@given(st.randoms(use_true_random=False), st.sets(st.integers(0, 95), max_size=40))
def test_every_node_is_at_its_coordinates_despite_gaps(
    rng: random.Random, missing_nodes: set[int]
) -> None:
    rows = list_xe_records(1, 1)
    kept = rng.sample(range(96), 96 - len(missing_nodes))
    kept = [nid for nid in kept if nid not in missing_nodes]
    pairs = any(nid ^ 1 in kept for nid in kept)
    described = read_xtdb2proc("".join(rows[nid] for nid in kept))
    machine = Machine(described.text)
    for nid in kept:
        slot, cpu = nid // 4, nid % 4
        node = described.hosts.index(f"nid{nid:05}")
        assert machine.coordinates(node) == [0, cpu // 2, slot]
    assert (",nodes=2" in described.text) == pairs
    vacant = sum(map(is_vacant, described.hosts))
    assert machine.node_count == vacant + len(kept)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file contains no compute node"),
        (
            HEAD + format_record(1, (0, 0, 0), (0,) * 5, "service"),
            "line 1: the file contains no compute node",
        ),
        (
            HEAD + format_record(1, (0, 0, 0), (0,) * 5) + "cpu=1,slot=0,x_coord=0\n",
            "line 5: the record lacks its 'processor_type='",
        ),
        (
            format_record(1, (0, 0, 0), (0,) * 5) * 2,
            "line 2: nid00001 is listed twice, first on line 1",
        ),
        (
            format_record(1, (0, 0, 0), (0,) * 5)
            + format_record(2, (0, 0, 1), (0,) * 5),
            "line 2: c0-0c0s0n0 is listed twice, first on line 1",
        ),
        (
            format_record(1, (0, 0, 0), (0,) * 5).replace("y_coord=0", "y_coord=null"),
            "line 1: y_coord=null is not an integer",
        ),
        (
            format_record(1, (0, 0, 0), (0,) * 5).replace("'compute'", "'gpu'"),
            "line 1: processor_type is 'gpu'; there are: compute, service",
        ),
        (
            format_record(1, (0, 0, 0), (0,) * 5)
            + format_record(2, (999, 999, 999), (1,) * 5),
            "line 2: a torus of 1000x1000x1000 is too large to read",
        ),
        (
            format_record(1, (0, 0, 0), (0,) * 5).replace(",slot=0", ",cpu=0"),
            "line 1: cpu is given twice",
        ),
        ("x_coord=0,processor_id=1,,", "line 1: expected fields"),
        (
            format_record(1, (0, 0, 0), (0,) * 5)[:66],
            "line 1: the record lacks its 'pro",
        ),
    ],
)
def test_invalid_xtdb2proc_tables_are_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(Error, match=f"^{message}"):
        read_xtdb2proc(text)
