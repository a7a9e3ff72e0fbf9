# SPDX-License-Identifier: BSD-3-Clause
"""Machines from the labels of Kubernetes nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.cloud.kubernetes import (
    read_kubernetes_nodes,
)
from topoloom.machines.import_formats import IMPORTERS
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_writers import save_machine

(IMPORTER,) = (one for one in IMPORTERS if one.name == "kubernetes")

TOPOGRAPH = [
    "network.topology.nvidia.com/" + name for name in ("core", "spine", "leaf")
]
TIERS = [f"fabric.topograph.run/tier-{tier}" for tier in (2, 1, 0)]
COREWEAVE = [
    f"backend.coreweave.cloud/{name}" for name in ("fabric", "superpod", "leafgroup")
]
CLIQUE = "nvidia.com/gpu.clique"
ACCELERATOR = "network.topology.nvidia.com/accelerator"


def make_item(name: str, gpus: int = 8, **more: Any) -> dict[str, Any]:
    """Create an item of `kubectl get nodes -o json`; `labels` is a dict."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": more.get("labels", {})},
        "spec": more.get("spec", {}),
        "status": {
            "allocatable": {"cpu": "64", "nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": more.get("ready", "True")}],
        },
    }


def format_items(*items: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=4)


def make_labeled_node(
    labels: list[str], name: str, path: str, **more: Any
) -> dict[str, Any]:
    own = dict(zip(labels, path.split(), strict=True)) | more.pop("others", {})
    return make_item(name, labels=own, **more)


TREE = format_items(
    *(
        make_labeled_node(TOPOGRAPH, f"n{i}", f"c s{i // 4} l{i // 2}")
        for i in range(8)
    ),
)


@pytest.mark.parametrize("labels", [TOPOGRAPH, TIERS, COREWEAVE])
def test_switches_of_all_labels_make_the_same_tree(labels: list[str]) -> None:
    text = format_items(
        *(
            make_labeled_node(labels, f"n{i}", f"c s{i // 4} l{i // 2}")
            for i in range(8)
        )
    )
    assert IMPORTER.recognizes(text[:200])
    described = read_kubernetes_nodes(text)
    assert described.text == "tree:2:2:2+node:8"
    assert described.hosts == tuple(f"n{i}" for i in range(8))
    assert described.missing == ()


@pytest.mark.parametrize("labels", [TOPOGRAPH, TIERS, COREWEAVE])
def test_switches_have_their_names_and_leaves_their_label(
    labels: list[str], tmp_path: Path
) -> None:
    text = format_items(
        *(
            make_labeled_node(labels, f"n{i}", f"c s{i // 4} l{i // 2}")
            for i in range(8)
        )
    )
    (tmp_path / "nodes.json").write_text(text)
    machine, described = load_machine_and_description(tmp_path / "nodes.json")
    assert described.switches == ("l0", "l1", "l2", "l3", "s0", "s1", "c")
    assert described.labels == tuple(reversed(labels))
    written = tmp_path / "m.toml"
    save_machine(written, machine, labels=described.labels)
    assert load_machine_and_description(written)[1].labels == described.labels


def test_switches_of_the_same_name_are_named_by_their_path() -> None:
    text = format_items(
        *(
            make_labeled_node(TOPOGRAPH, f"n{i}", f"c s{i // 4} l{i // 2 % 2}")
            for i in range(8)
        )
    )
    switches = read_kubernetes_nodes(text).switches
    assert switches[:4] == ("c/s0/l0", "c/s0/l1", "c/s1/l0", "c/s1/l1")


def test_nodes_without_gpus_among_others_are_omitted() -> None:
    text = format_items(
        make_labeled_node(TOPOGRAPH, "a", "c s l0"),
        make_labeled_node(TOPOGRAPH, "b", "c s l0"),
        make_labeled_node(TOPOGRAPH, "cpu", "c s l1", gpus=0),
    )
    described = read_kubernetes_nodes(text)
    assert described.hosts == ("a", "b")
    assert described.missing == (
        "node 'cpu' has no GPUs in its status, which others have",
    )


def test_nodes_of_a_cluster_without_gpus_are_slots() -> None:
    text = format_items(
        *(make_labeled_node(TOPOGRAPH, f"n{i}", "c s l", gpus=0) for i in range(2))
    )
    described = read_kubernetes_nodes(text)
    assert Machine(described.text).slot_count == 2
    assert "assumed: a slot per node" in described.remarks[0]


def test_domains_of_single_gpu_nodes_become_tree_levels() -> None:
    """Topograph's domains are parts of the network if the GPUs have no NVLink."""
    own = {"nvidia.com/gpu.product": "NVIDIA-H200"}
    for leaf in (4, 2):
        text = format_items(
            *(
                make_labeled_node(
                    TOPOGRAPH,
                    f"n{i}",
                    f"c s l{i // leaf}",
                    others=own | {ACCELERATOR: f"u{i // (8 // leaf)}", CLIQUE: "x.0"},
                )
                for i in range(8)
            )
        )
        assert read_kubernetes_nodes(text).text == "tree:2:2:2+node:8,memory=3600GB/s"


def test_domains_that_overlap_with_leaves_are_omitted_and_named() -> None:
    domain = [0, 0, 1, 1, 0, 0, 1, 1]
    leaf = [0, 0, 0, 1, 1, 1, 1, 0]
    own = {"nvidia.com/gpu.product": "NVIDIA-B200"}
    text = format_items(
        *(
            make_labeled_node(
                TOPOGRAPH,
                f"n{i}",
                f"c s l{leaf[i]}",
                others=own | {ACCELERATOR: f"u.{domain[i]}"},
            )
            for i in range(8)
        )
    )
    described = read_kubernetes_nodes(text)
    assert described.text == "tree:4:2+node:8,memory=7200GB/s"
    assert any("they and leaf switches overlap" in one for one in described.remarks)


def test_nodes_can_differ_and_can_be_down() -> None:
    text = format_items(
        make_labeled_node(TOPOGRAPH, "a", "c s l0", gpus=4),
        make_labeled_node(TOPOGRAPH, "b", "c s l0", ready="Unknown"),
        make_labeled_node(TOPOGRAPH, "c", "c s l1", spec={"unschedulable": True}),
        make_labeled_node(TOPOGRAPH, "d", "c s l1"),
    )
    described = read_kubernetes_nodes(text)
    machine = Machine(described.text)
    assert described.hosts == ("a", "b", "c", "d")
    assert machine.nodes_up.tolist() == [0, 3]
    counts = {kind.nodes: len(kind.slots) for kind in described.node.types}
    assert counts == {(0,): 4, (1, 2, 3): 8}


def test_nodes_without_labels_are_named() -> None:
    text = format_items(
        make_labeled_node(TOPOGRAPH, "a", "c s l0"),
        make_labeled_node(TOPOGRAPH, "b", "c s l0"),
        make_item("cpu"),
        make_labeled_node(TOPOGRAPH[:2], "half", "c s"),
        make_item("boss", labels={"node-role.kubernetes.io/control-plane": ""}),
    )
    described = read_kubernetes_nodes(text)
    assert described.hosts == ("a", "b")
    cpu, half = described.missing
    assert cpu.startswith("node 'cpu' has no label of a switch or an NVLink domain")
    assert half == "node 'half' has labels of 2 levels of switches, others of 3"
    assert "left out: 1 node of the control plane" in described.remarks


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "Node"', "line 1: not JSON"),
        ('{"kind": "List", "items": 3}', "line 1: expected a list of nodes under"),
        ('{"kind": "List", "items": []}', "line 1: there are no nodes in the list"),
        (
            '{"kind": "List", "items": [{"kind": "Pod"}]}',
            "line 1: expected entries of kind Node",
        ),
        ('{"items": [{"kind": "Node"}]}', "line 1: a node has no metadata.name"),
        (format_items(make_item("a")), "line 1: no node has a label"),
        (
            format_items(make_item("a", gpus=10**12)),
            "line 8: node 'a' has '1000000000000' GPUs",
        ),
        (
            format_items(*[make_labeled_node(TOPOGRAPH, "a", "c s l")] * 2),
            "line 8: node 'a' appears twice",
        ),
    ],
)
def test_errors_in_kubernetes_files_name_the_line(text: str, message: str) -> None:
    assert IMPORTER.recognizes(text)
    with pytest.raises(Error) as raised:
        read_kubernetes_nodes(text)
    assert str(raised.value).startswith(message)


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=12))
def test_distances_follow_the_labels_of_nodes(
    paths: list[tuple[int, int, int]],
) -> None:
    """The nodes of the same leaf are nearest; all other nodes are farther."""
    text = format_items(
        *(
            make_labeled_node(TOPOGRAPH, f"n{i}", f"c{a} s{a}{b} l{a}{b}{c}")
            for i, (a, b, c) in enumerate(paths)
        )
    )
    described = read_kubernetes_nodes(text)
    at = [described.hosts.index(f"n{i}") for i in range(len(paths))]
    hops = Machine(described.text).hop_matrix()
    for i, one in enumerate(paths):
        for k, other in enumerate(paths):
            for m, third in enumerate(paths):
                shared = [count_shared_levels(one, path) for path in (other, third)]
                if k != i and m != i and shared[0] > shared[1]:
                    assert hops[at[i]][at[k]] <= hops[at[i]][at[m]]


def count_shared_levels(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return next((k for k in range(3) if one[k] != other[k]), 3)


@pytest.mark.parametrize(
    ("resource", "remarks"),
    [
        ("amd.com/gpu", 0),
        ("aws.amazon.com/neuron", 1),
    ],
)
def test_other_accelerators_are_slots(resource: str, remarks: int) -> None:
    found = IMPORTER.read(TREE.replace("nvidia.com/gpu", resource))
    valid = IMPORTER.read(TREE)
    assert (found.text, found.hosts) == (valid.text, valid.hosts)
    assert sum("Neuron" in remark for remark in found.remarks) == remarks


def test_unknown_resources_are_refused_by_name() -> None:
    resource = "habana.ai/gaudi"
    with pytest.raises(
        Error, match=f"the resource {resource}, which is not understood"
    ):
        IMPORTER.read(TREE.replace("nvidia.com/gpu", resource))
