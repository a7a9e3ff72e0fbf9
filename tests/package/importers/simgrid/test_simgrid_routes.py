# SPDX-License-Identifier: BSD-3-Clause
"""Our routes equal SimGrid's routes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from simgrid_platforms import format_cluster

from topoloom import Machine
from topoloom.importers.simgrid.clusters import read_simgrid_platform

ROUTES = Path(__file__).with_name("simgrid_routes.py")
#: The SimGrid package belongs to the system's Python.
PYTHON = "/usr/bin/python3"
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps"
             lat="1us" topology="{kind}" topo_parameters="{shape}"/>
  </zone>
</platform>
"""

Routes = list[tuple[int, int, list[str]]]


def list_simgrid_routes(folder: Path, kind: str, shape: str, nodes: int) -> Routes:
    platform = folder / "platform.xml"
    platform.write_text(PLATFORM.format(kind=kind, shape=shape, last=nodes - 1))
    done = subprocess.run(
        [PYTHON, str(ROUTES), str(platform)],
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    routes: Routes = json.loads(done.stdout)
    assert len(routes) == nodes * (nodes - 1)
    return routes


def check_routes(machine: Machine, routes: Routes) -> None:
    """Check that on all routes, each SimGrid link stands for the same link of ours."""
    ours_of: dict[str, int] = {}
    for a, b, theirs in routes:
        ours = [link for link, _ in machine.route(a, b)]
        assert len(ours) == len(theirs), (a, b, theirs)
        for name, link in zip(theirs, ours, strict=True):
            assert ours_of.setdefault(name, link) == link, (a, b, name)
    assert len(set(ours_of.values())) == len(ours_of)
    assert len(ours_of) > 1


@pytest.mark.parametrize(
    ("kind", "shape", "text"),
    [
        # In SimGrid, hosts are numbered along the first axis first, and routes follow
        # it first.
        ("TORUS", "3,5", "torus:5x3,order=1:0"),
        ("TORUS", "5,3,3", "torus:3x3x5,order=2:1:0"),
        ("TORUS", "7", "torus:7"),
        ("TORUS", "4", "torus:4,ties=simgrid"),
        ("TORUS", "4,6", "torus:6x4,order=1:0,ties=simgrid"),
        ("TORUS", "2,5,4", "torus:4x5x2,order=2:1:0,ties=simgrid"),
        ("FAT_TREE", "2;4,4;1,4;1,1", "fattree:4:4"),
        ("FAT_TREE", "3;2,2,2;1,2,2;1,1,1", "fattree:2:2:2"),
        ("FAT_TREE", "2;4,3;1,2;1,1", "fattree:4:3,up=1:2"),
        ("FAT_TREE", "3;3,2,2;1,3,2;1,1,1", "fattree:3:2:2,up=1:3:2"),
        (
            "FAT_TREE",
            "2;4,4;1,2;1,2",
            "fattree:4:4,up=1:2,parallel=1:2,routing=simgrid",
        ),
        (
            "FAT_TREE",
            "2;3,4;2,2;3,2",
            "fattree:3:4,up=2:2,parallel=3:2,routing=simgrid",
        ),
        (
            "FAT_TREE",
            "3;2,3,2;1,2,2;1,2,3",
            "fattree:2:3:2,up=1:2:2,parallel=1:2:3,routing=simgrid",
        ),
        (
            "FAT_TREE",
            "4;2,3,2,2;1,2,2,3;2,3,4,2",
            "fattree:2:3:2:2,up=1:2:2:3,parallel=2:3:4:2,routing=simgrid",
        ),
        # Only one row, because SimGrid 3.32 does not connect routes between rows.
        ("DRAGONFLY", "4,1;1,1;5,1;1", "dragonfly:4x1x5,arrangement=direct"),
        ("DRAGONFLY", "2,1;1,1;5,1;2", "dragonfly:2x1x5,nodes=2,arrangement=direct"),
        ("DRAGONFLY", "6,1;1,1;6,1;1", "dragonfly:6x1x6,arrangement=direct"),
    ],
)
def test_routes_of_networks_equal_simgrid_routes(
    tmp_path: Path, kind: str, shape: str, text: str
) -> None:
    machine = Machine(text)
    check_routes(
        machine, list_simgrid_routes(tmp_path, kind, shape, machine.node_count)
    )


def list_dragonfly_links(
    shape: tuple[int, int, int, int], source: int, target: int
) -> list[str]:
    """Name the links of a message by SimGrid's rules: green, black, blue."""
    _, chassis, blades, nodes = shape

    def locate(host: int) -> list[int]:
        router = host // nodes
        return [
            router // (chassis * blades),
            router // blades % chassis,
            router % blades,
        ]

    at, end = locate(source), locate(target)
    links = ["host"]

    def move(axis: int, to: int, color: str) -> None:
        if at[axis] != to:
            links.append(color)
            at[axis] = to

    if at[0] != end[0]:
        group = at[0]
        move(2, end[0], "green")
        move(1, 0, "black")
        links.append("blue")
        at[:] = [end[0], 0, group]
    move(2, end[2], "green")
    move(1, end[1], "black")
    return [*links, "host"]


@pytest.mark.parametrize(
    "shape", [(3, 3, 4, 2), (2, 1, 3, 1), (4, 2, 4, 3), (1, 2, 2, 1)]
)
def test_dragonfly_routes_have_the_links_of_simgrid(
    shape: tuple[int, int, int, int],
) -> None:
    groups, chassis, blades, nodes = shape
    count = groups * chassis * blades * nodes
    platform = format_cluster(
        bw="1Bps",
        topology="DRAGONFLY",
        topo_parameters=f"{groups},2;{chassis},3;{blades},5;{nodes}",
        radical=f"0-{count - 1}",
    )
    machine = Machine(read_simgrid_platform(platform).text)
    rates = {"host": 1, "blue": 2, "black": 3, "green": 5}
    for source in range(count):
        for target in range(count):
            if source != target:
                ours = [machine.bandwidth(k) for k, _ in machine.route(source, target)]
                names = list_dragonfly_links(shape, source, target)
                assert ours == [rates[name] for name in names], (source, target)
