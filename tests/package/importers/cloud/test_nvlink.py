# SPDX-License-Identifier: BSD-3-Clause
"""Kubernetes nodes joined by NVLink, with the labels that clouds document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from topoloom import Allocation, Error, Machine
from topoloom.allocations.described_allocation import described_allocation
from topoloom.importers.cloud.kubernetes import read_kubernetes_nodes
from topoloom.importers.network_speeds import GivenSpeeds
from topoloom.machines.machine_file import (
    IncompleteFileError,
    load_machine_and_description,
)
from topoloom.machines.machine_writers import save_machine
from topoloom.nodes.host_text import drop_vacant
from topoloom.nodes.hosts import list_fully_allocated_hosts

CLIQUE, PRODUCT = "nvidia.com/gpu.clique", "nvidia.com/gpu.product"
LEAF, SPINE = (f"network.topology.nvidia.com/{name}" for name in ("leaf", "spine"))
TYPE = "node.kubernetes.io/instance-type"
UUID = "7b968a6d-c8aa-45e1-9e07-e1e51be99c3"


def make_item(name: str, labels: dict[str, str], gpus: int = 4, **more: Any) -> Any:
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": more.get("spec", {}),
        "status": {
            "allocatable": {"nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": more.get("ready", "True")}],
        },
    }


def make_domain(
    number: int, hosts: int, labels: dict[str, str], **more: Any
) -> list[Any]:
    """Create the nodes of an NVLink domain."""
    own = {CLIQUE: f"{UUID}{number}.32766"} | labels
    return [
        make_item(f"r{number}-{host:02}", dict(own), **more) for host in range(hosts)
    ]


def format_items(items: list[Any]) -> str:
    return json.dumps({"kind": "List", "items": items})


def make_gb200_cluster(racks: int, hosts: int = 18, per_leaf: int = 2) -> list[Any]:
    return [
        one
        for number in range(racks)
        for one in make_domain(
            number,
            hosts,
            {
                PRODUCT: "NVIDIA-GB200",
                LEAF: f"leaf-{number // per_leaf}",
                SPINE: "spine-0",
            },
        )
    ]


def test_racks_are_domains_with_the_speed_of_nvlink(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text(format_items(make_gb200_cluster(4)))
    machine, described = load_machine_and_description(tmp_path / "nodes.json")
    assert machine.text.startswith("rails:72:2:2,rails=4,host=4,bandwidth=50GB/s")
    assert {machine.bandwidth(link) for link in range(machine.link_count)} == {
        50e9,
        900e9,
    }
    assert described.labels == (CLIQUE, LEAF)
    assert any("NVLink of 900 GB/s per GPU and" in one for one in described.remarks)
    assert any("as DGX GB200 has, 200 GB/s" in one for one in described.remarks)
    save_machine(tmp_path / "m.toml", machine, described.hosts, labels=described.labels)
    again, kept = load_machine_and_description(tmp_path / "m.toml")
    assert (again.text, kept.hosts, kept.labels) == (
        machine.text,
        described.hosts,
        described.labels,
    )


@pytest.mark.parametrize(
    ("labels", "nvlink", "network"),
    [
        ({PRODUCT: "NVIDIA-GB200"}, 900, 50),
        ({PRODUCT: "NVIDIA-GB300"}, 900, 100),
        ({PRODUCT: "NVIDIA-GH200-480GB"}, 450, 3.125),
        ({TYPE: "p6e-gb200.36xlarge"}, 900, 50),
        ({"gpu.nvidia.com/model": "GB300", TYPE: "gb300-4x"}, 900, 100),
        ({TYPE: "a4x-highgpu-4g"}, 900, 62.5),
        ({}, 900, 3.125),
    ],
)
def test_speeds_follow_the_gpu_and_instance_type(
    labels: dict[str, str], nvlink: float, network: float, tmp_path: Path
) -> None:
    items = make_domain(0, 2, labels) + make_domain(1, 2, labels)
    (tmp_path / "nodes.json").write_text(format_items(items))
    machine, _ = load_machine_and_description(tmp_path / "nodes.json")
    speeds = {machine.bandwidth(link) for link in range(machine.link_count)}
    assert speeds == {nvlink * 1e9, network * 1e9}


@pytest.mark.parametrize(
    ("domain", "labels"),
    [
        ("ds.coreweave.com/nvlink.domain", {"gpu.nvidia.com/model": "GB200"}),
        ("topology.k8s.aws/ultraserver-id", {TYPE: "p6e-gb200.36xlarge"}),
        ("accelerator.topograph.run/domain", {PRODUCT: "NVIDIA-GB200"}),
        (
            "cloud.google.com/gce-topology-subblock",
            {"cloud.google.com/gke-accelerator": "nvidia-gb200"},
        ),
    ],
)
def test_cloud_labels_of_domains_mark_nvlink_domains(
    domain: str, labels: dict[str, str]
) -> None:
    items = [
        make_item(
            f"n{i}",
            labels
            | {
                domain: f"d{i // 4}",
                "cloud.google.com/gce-topology-block": f"b{i // 8}",
                "cloud.google.com/gce-topology-host": f"h{i}",
            },
        )
        for i in range(16)
    ]
    described = read_kubernetes_nodes(format_items(items))
    assert described.text == "rails:16:2:2,rails=4,host=4,bandwidth.nvlink=900GB/s"
    assert described.labels == (domain, "cloud.google.com/gce-topology-block")


def test_amazon_and_google_label_switches_without_nvlink() -> None:
    amazon = [
        make_item(
            f"n{i}",
            {
                f"topology.k8s.aws/network-node-layer-{layer}": f"nn-{i // size}"
                for layer, size in ((1, 8), (2, 4), (3, 2))
            }
            | {TYPE: "p5.48xlarge"},
            8,
        )
        for i in range(8)
    ]
    described = read_kubernetes_nodes(format_items(amazon))
    assert (described.text, described.network) == (
        "tree:2:2:2+node:8,memory=3600GB/s",
        "p5.48xlarge",
    )
    google = [
        make_item(
            f"n{i}",
            {
                f"cloud.google.com/gce-topology-{name}": f"{name}-{i // size}"
                for name, size in (("block", 4), ("subblock", 2), ("host", 1))
            }
            | {"cloud.google.com/gke-accelerator": "nvidia-h200-141gb"},
            8,
        )
        for i in range(8)
    ]
    described = read_kubernetes_nodes(format_items(google))
    assert described.text == "tree:2:2:2+node:8,memory=3600GB/s"
    assert described.labels[0] == "cloud.google.com/gce-topology-subblock"


def test_missing_nodes_leave_gaps_and_unhealthy_nodes_are_down(tmp_path: Path) -> None:
    items = make_gb200_cluster(3)
    del items[5]
    items[20]["status"]["conditions"][0]["status"] = "False"
    items[30]["spec"]["unschedulable"] = True
    items[40]["status"]["allocatable"]["nvidia.com/gpu"] = "3"
    (tmp_path / "nodes.json").write_text(format_items(items))
    machine, described = load_machine_and_description(tmp_path / "nodes.json")
    assert (machine.node_count, machine.nodes_per_host) == (4 * 72, 4)
    given = described_allocation(machine, described)
    assert len(drop_vacant(described.hosts)) == 4 * 53
    # Two hosts and one GPU of a third are down; jobs get only complete hosts.
    assert given.allocation.slot_count == 4 * 51 - 1
    assert len(list_fully_allocated_hosts(given.allocation)) == 50
    assert isinstance(given.allocation, Allocation)


def test_nodes_that_lack_the_clique_are_named(tmp_path: Path) -> None:
    items = make_gb200_cluster(2)
    del items[7]["metadata"]["labels"][CLIQUE]
    (tmp_path / "nodes.json").write_text(format_items(items))
    with pytest.raises(IncompleteFileError) as raised:
        load_machine_and_description(tmp_path / "nodes.json")
    assert raised.value.lines == (
        f"node 'r0-07' has no label of an NVLink domain, which others have in {CLIQUE}",
    )
    machine, described = load_machine_and_description(
        tmp_path / "nodes.json", partial=True
    )
    assert machine.text.startswith("rails:72:2:1")
    assert "r0-07" not in described.hosts


def test_cliques_on_only_a_few_nodes_are_omitted_with_a_remark() -> None:
    others = [make_item(f"h{i}", {LEAF: f"leaf-{i // 4}"}, 8) for i in range(8)]
    described = read_kubernetes_nodes(
        format_items(others + make_domain(0, 2, {LEAF: "leaf-9"}))
    )
    assert described.text.startswith("graph:")
    assert not described.missing
    (remark,) = (one for one in described.remarks if "NVLink domains" in one)
    assert "only 2 of 10 nodes" in remark
    assert f"kubectl get nodes -l {CLIQUE}" in remark


def test_gpus_without_a_clique_are_in_no_domain() -> None:
    nil = "00000000-0000-0000-0000-000000000000.0"
    items = [make_item(f"n{i}", {LEAF: f"l{i // 2}", CLIQUE: nil}, 8) for i in range(4)]
    assert read_kubernetes_nodes(format_items(items)).text == "tree:2:2+node:8"


def test_cliques_with_several_nodes_are_sufficient_for_domains() -> None:
    assert read_kubernetes_nodes(
        format_items(make_domain(0, 2, {}) + make_domain(1, 2, {}))
    ).text == ("rails:8:2:1,rails=4,host=4,bandwidth.nvlink=900GB/s")
    alone = [one for number in range(3) for one in make_domain(number, 1, {})]
    assert Machine(read_kubernetes_nodes(format_items(alone)).text).slot_count == 12


def test_switches_inside_domains_are_omitted() -> None:
    items = make_gb200_cluster(2, hosts=4)
    for number, one in enumerate(items):
        one["metadata"]["labels"][LEAF] = f"leaf-{number // 2}"
    described = read_kubernetes_nodes(format_items(items))
    assert described.text.startswith("rails:16:2:1,")
    assert f"left out: switches that part NVLink domains, of {LEAF}" in (
        described.remarks
    )


def test_labels_of_levels_are_read_as_text(tmp_path: Path) -> None:
    written = tmp_path / "m.toml"
    save_machine(written, Machine("tree:2:2"), labels=("a b",))
    with pytest.raises(Error, match=r"topology\.labels must be a list of labels"):
        load_machine_and_description(written)


def test_given_speeds_replace_assumed_speeds(tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    path.write_text(format_items(make_gb200_cluster(2)))
    machine, described = load_machine_and_description(
        path, speeds=GivenSpeeds(400e9, 1800e9)
    )
    speeds = {machine.bandwidth(link) for link in range(machine.link_count)}
    assert speeds == {100e9, 1800e9}
    assert described.remarks[0] == (
        "NVLink of 1.8 TB/s per GPU and direction, as given"
    )
    assert "a network of 400 GB/s per node, as given" in described.remarks[-1]
    tree = [make_item(f"n{i}", {LEAF: f"l{i // 2}"}, 8) for i in range(4)]
    path.write_text(format_items(tree))
    with pytest.raises(Error, match="nvlink requires GPUs connected by NVLink"):
        load_machine_and_description(path, speeds=GivenSpeeds(nvlink=900e9))
    with pytest.raises(Error, match="dgx-h100-pod: only files without speeds"):
        load_machine_and_description("dgx-h100-pod", speeds=GivenSpeeds(network=900e9))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2))
def test_distances_of_hosts_follow_their_labels(places: list[tuple[int, int]]) -> None:
    """Hosts of one clique are joined by NVLink; other distances depend on switches."""
    items = [
        make_item(f"n{i}", {CLIQUE: f"{UUID}{unit}{at}.1", LEAF: f"l{unit}"}, 2)
        for i, (unit, at) in enumerate(places)
    ]
    described = read_kubernetes_nodes(format_items(items))
    if not described.text.startswith("rails:"):
        assert len(set(places)) == len(places)
        return
    machine = Machine(described.text.replace(",bandwidth.nvlink=900GB/s", ""))
    at = [2 * described.hosts.index(f"n{i}") for i in range(len(places))]
    for i, one in enumerate(places):
        for k, other in enumerate(places):
            if i != k:
                same = one == other, one[0] == other[0]
                hops = machine.hops(at[i], at[k])
                assert hops == (2 if any(same) else 4)
