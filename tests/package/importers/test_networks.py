# SPDX-License-Identifier: BSD-3-Clause
"""Speeds that are assumed for networks if files describe only switches."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from test_cloud import GOOGLE, ORACLE, format_aws
from test_slingshot import SWITCHES
from test_slurm import SHAPES, TREE, SlurmTree
from test_tofu import HOSTS
from test_xtdb2proc import XE
from test_xtprocadmin import HEAD, list_cabinet_rows

from topoloom import Machine, load_machine
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.network_speeds import NETWORKS, add_assumed_speeds
from topoloom.importers.slurm.topology_conf import read_slurm_conf
from topoloom.importers.system.nic_speed import read_nic_speed
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_writers import save_machine


def draw_named_instances(*kinds: str) -> str:
    entries = json.loads(
        format_aws(*((f"i{i}", f"n r{i}") for i in range(max(2, len(kinds)))))
    )
    for entry, kind in zip(entries["Instances"], itertools.cycle(kinds), strict=False):
        entry["InstanceType"] = kind
    return json.dumps(entries)


@pytest.mark.parametrize(
    ("text", "card", "message"),
    [
        (TREE, 12.5e9, "a network of 100 Gbit/s"),
        (SWITCHES, 25e9, "Slingshot"),
        (HEAD + "".join(list_cabinet_rows(2)), 10e9, "Aries"),
        (XE, 6e9, "Gemini"),
        (HOSTS, 6.8e9, "Tofu-D"),
        (draw_named_instances("p5.48xlarge"), 400e9, "p5.48xlarge, 3,200 Gbit/s"),
        (draw_named_instances("x9.huge"), 12.5e9, "a network of 100 Gbit/s"),
        (
            draw_named_instances("x9.huge"),
            12.5e9,
            "100 Gbit/s for x9.huge, whose own is unknown",
        ),
        (
            draw_named_instances("p5.48xlarge", "hpc7a.96xlarge"),
            37.5e9,
            "all instances have the network of hpc7a.96xlarge, the slowest of "
            "hpc7a.96xlarge, p5.48xlarge",
        ),
        (
            draw_named_instances("p5.48xlarge", "x9.huge"),
            400e9,
            "the network of p5.48xlarge for x9.huge, whose own is unknown",
        ),
        (GOOGLE, 12.5e9, "a network of 100 Gbit/s"),
        (ORACLE, 12.5e9, "a network of 100 Gbit/s"),
    ],
)
def test_missing_bandwidths_are_assumed_with_a_remark(
    text: str, card: float, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    machine = load_machine(file)
    assert machine.has_bandwidths
    assert machine.bandwidth(machine.route(0, 1)[0][0]) == card
    assert any(remark.startswith(f"assumed: {message}") for remark in machine.remarks)


@pytest.mark.parametrize(
    ("name", "zoo"),
    [
        ("tofu-d", "fugaku"),
        ("seastar", "jaguar"),
        ("gemini", "titan"),
        ("slingshot", "frontier"),
    ],
)
def test_named_networks_have_the_speeds_of_the_included_machines(
    name: str, zoo: str
) -> None:
    text = "torus:4x4x4,nodes=2,bandwidth.y=half" if name == "gemini" else "torus:4x4x4"
    text = "tree:4:4" if name == "slingshot" else text
    ours = Machine(add_assumed_speeds(MachineDescription(text, network=name)).text)
    theirs = load_machine(zoo)
    for speed in ("startup", "node_latency", "port_bandwidth"):
        assert getattr(ours, speed) == getattr(theirs, speed)
    bandwidths = {theirs.bandwidth(link) for link in range(theirs.link_count)}
    others = (1, 4, ours.node_count - 1)
    first_links = {ours.bandwidth(ours.route(0, b)[0][0]) for b in others}
    assert first_links <= bandwidths


@given(SHAPES, st.randoms(use_true_random=False))
def test_switches_carry_the_full_bandwidth_of_their_nodes(
    shape: Any, rng: random.Random
) -> None:
    plain = read_slurm_conf("\n".join(SlurmTree(shape).conf))
    full = add_assumed_speeds(plain)
    machine, before = Machine(full.text), Machine(plain.text)
    if machine.node_count == 1:
        assert full == plain
        return
    peers = list(range(machine.node_count))
    rng.shuffle(peers)
    loads = [0.0] * machine.link_count
    for a, b in enumerate(peers):
        assert machine.hops(a, b) == before.hops(a, b)
        for link, share in machine.route(a, b):
            loads[link] += share
    card = NETWORKS[""].bandwidth
    for link, load in enumerate(loads):
        assert load / machine.bandwidth(link) <= 1.000001 / card


def test_two_nodes_on_one_router_are_a_network() -> None:
    plain = MachineDescription("torus:1x1x1,nodes=2,bandwidth.y=half", network="gemini")
    assert Machine(add_assumed_speeds(plain).text).has_bandwidths


def test_assumptions_stay_in_the_description(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(TREE)
    machine, described = load_machine_and_description(tmp_path / "topology.conf")
    written = tmp_path / "m.toml"
    save_machine(written, machine, described.hosts, remarks=described.remarks)
    assert f"# {described.remarks[0]}\n" in written.read_text()
    assert load_machine(written).text == machine.text


def test_replacing_the_node_keeps_the_speeds(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(SWITCHES)
    machine = load_machine(f"{tmp_path}/hosts+node:2:4,distance=1:2")
    assert machine.slots_per_node == 8
    assert machine.startup == load_machine("frontier").startup
    assert any("Slingshot" in remark for remark in machine.remarks)


def write_card(classes: Path, name: str, **files: str) -> None:
    for file, word in files.items():
        path = classes / name / file.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(word + "\n")


def test_without_nics_the_speed_is_unknown(tmp_path: Path) -> None:
    write_card(tmp_path, "net/lo", speed="-1")
    write_card(tmp_path, "net/bridge", speed="10000")
    assert read_nic_speed(tmp_path) is None


def test_active_infiniband_ports_add_up(tmp_path: Path) -> None:
    for device, state in (("mlx5_0", "4: ACTIVE"), ("mlx5_1", "4: ACTIVE")):
        port = f"infiniband/{device}/ports/1"
        write_card(tmp_path, port, state=state, rate="200 Gb/sec (4X HDR)")
    port = "infiniband/mlx5_2/ports/1"
    write_card(tmp_path, port, state="1: DOWN", rate="10 Gb/sec (4X SDR)")
    write_card(tmp_path, "net/eth0", speed="400000", device__vendor="0x15b3")
    found = read_nic_speed(tmp_path)
    assert found is not None
    assert found.bandwidth == 50e9
    assert found.title == "InfiniBand as on this node, 2 cards, 400 Gbit/s"


def test_slingshot_ports_add_up_and_the_fastest_ethernet_port_counts(
    tmp_path: Path,
) -> None:
    write_card(tmp_path, "net/eth0", speed="1000", device__vendor="0x8086")
    write_card(tmp_path, "net/eth1", speed="25000", device__vendor="0x8086")
    ethernet = read_nic_speed(tmp_path)
    assert ethernet is not None
    assert ethernet.bandwidth == 3.125e9
    for name in ("hsn0", "hsn1", "hsn2", "hsn3"):
        write_card(tmp_path, f"net/{name}", speed="200000", device__vendor="0x17db")
    slingshot = read_nic_speed(tmp_path)
    assert slingshot is not None
    assert slingshot.bandwidth == 100e9
