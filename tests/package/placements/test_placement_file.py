# SPDX-License-Identifier: BSD-3-Clause
"""Placements as JSON, valid and invalid."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom import (
    Allocation,
    Error,
    Machine,
    Placement,
    PlacementFile,
    load_placement,
    save_placement,
)
from topoloom.nodes.node_parts import Device, NodeParts


def make_placement_file() -> PlacementFile:
    machine = Machine("torus:4x4+node:2")
    allocation = Allocation(machine, np.array([5, 2, 9], dtype=np.uint32))
    return PlacementFile(
        machine=machine,
        allocation=allocation,
        placement=Placement(allocation, np.array([18, 4, 10, 5], dtype=np.uint32)),
        hosts=("a", "b", "c"),
        values={"hop_bytes": 12.0},
        mapper="gge+swap",
        seed=7,
        work=123,
    )


def test_a_saved_placement_is_read_back(tmp_path: Path) -> None:
    save_placement(tmp_path / "x.json", make_placement_file())
    again = load_placement(tmp_path / "x.json")
    assert again.machine.text == "torus:4x4+node:2"
    assert again.allocation.nodes.tolist() == [5, 2, 9]
    assert again.placement.slots.tolist() == [18, 4, 10, 5]
    assert again.document() == make_placement_file().document()


def test_cpus_and_devices_of_the_nodes_are_read_back(tmp_path: Path) -> None:
    gpu = Device("cuda0", "gpu", (1,), numa=1, pci="0000:17:00.0")
    one = replace(
        make_placement_file(), node=NodeParts(cpus=((0, 2), (1, 3)), devices=(gpu,))
    )
    save_placement(tmp_path / "x.json", one)
    assert load_placement(tmp_path / "x.json").node == one.node
    document = one.document()
    document["node"]["cpus"] = ["0"]
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(Error, match=r"x\.json: node\.cpus has 1 entries, but"):
        load_placement(tmp_path / "x.json")


def make_shared_placement_file() -> PlacementFile:
    one = make_placement_file()
    slots = np.array([18, 18, 4, 18], dtype=np.uint32)
    return replace(one, placement=Placement(one.allocation, slots, shared=True))


def test_a_placement_with_shared_slots_is_read_back(tmp_path: Path) -> None:
    save_placement(tmp_path / "x.json", make_shared_placement_file())
    assert json.loads((tmp_path / "x.json").read_text())["shared"] is True
    again = load_placement(tmp_path / "x.json")
    assert again.placement.shared
    assert again.placement.slots.tolist() == [18, 18, 4, 18]
    assert again.document() == make_shared_placement_file().document()


def test_a_placement_without_sharing_has_no_capacities(tmp_path: Path) -> None:
    assert "shared" not in make_placement_file().document()
    save_placement(tmp_path / "x.json", make_placement_file())
    assert not load_placement(tmp_path / "x.json").placement.shared


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shared": 1}, '"shared" must be true or false'),
        ({"shared": "true"}, '"shared" must be true or false'),
        ({"shared": None}, '"shared" must be true or false'),
        ({"shared": False}, "18"),
        ({"placement": [18, 18, 0, 18]}, "0"),
        ({"placement": [18, 18, 99, 18]}, "placement[2] is 99"),
    ],
)
def test_invalid_sharing_entries_are_named(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps({**make_shared_placement_file().document(), **change}))
    with pytest.raises(Error) as caught:
        load_placement(file)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(file))


def test_placement_documents_have_the_specified_keys() -> None:
    document = make_placement_file().document()
    assert list(document) == [
        "format",
        "version",
        "machine",
        "allocation",
        "placement",
        "objective",
        "values",
        "mapper",
        "seed",
        "work",
        "topoloom",
    ]
    assert document["allocation"] == {"nodes": [5, 2, 9], "hosts": ["a", "b", "c"]}
    assert document["placement"] == [18, 4, 10, 5]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "topoloom-graph", "is a communication graph, not a placement"),
        (["version"], 2, "version 2, but this Topoloom reads version 1"),
        (["machine"], "tours:4x4", "torus"),
        (["machine"], 3, '"machine" must be a string'),
        (["allocation"], [], '"allocation" must be an object'),
        (["allocation", "nodes"], [5, 5], "5"),
        (["allocation", "nodes"], [5, 16], "nodes[1] is 16, expected 0 to 15"),
        (["allocation", "nodes"], [5, -1], "nodes[1] is -1"),
        (["allocation", "nodes"], [5, 1.5], "nodes[1] is 1.5"),
        (["allocation", "nodes"], [], ""),
        (["allocation", "hosts"], ["a"], "allocation.hosts must name"),
        (["placement"], [18, 18], "18"),
        (["placement"], [18, 0], ""),
        (["placement"], [18, 99], "placement[1] is 99, expected 0 to 31"),
        (["placement"], [18, True], "placement[1] is True"),
        (["placement"], [18, "4"], "placement[1] is '4'"),
        (["placement"], "all", '"placement" must be a list'),
        (["values"], {"hop_bytes": "many"}, "values.hop_bytes must be a number"),
        (["seed"], "one", '"seed" must be an integer'),
        (["seed"], True, '"seed" must be an integer'),
        (["mapper"], None, '"mapper" must be a string'),
    ],
)
def test_wrong_entries_of_placements_are_named(
    path: list[str], value: Any, message: str, tmp_path: Path
) -> None:
    document = make_placement_file().document()
    part = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    file = tmp_path / "x.json"
    file.write_text(json.dumps(document))
    with pytest.raises(Error) as caught:
        load_placement(file)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", list(make_placement_file().document()))
def test_missing_entries_of_placements_are_named(key: str, tmp_path: Path) -> None:
    document = make_placement_file().document()
    del document[key]
    file = tmp_path / "x.json"
    file.write_text(json.dumps(document))
    with pytest.raises(Error, match=key):
        load_placement(file)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"{",
        b"[]",
        b"3",
        b"null",
        b"\x00\xff",
        b"[" * 100_000,
        b'{"format": NaN}',
        b"PK\x03\x04",
        b'{"format": "topoloom-placement",\n "version": 1,\n',
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_an_invalid_placement_is_refused_in_one_line(
    content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(Error) as caught:
        load_placement(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_a_truncated_file_names_its_line(tmp_path: Path) -> None:
    save_placement(tmp_path / "x.json", make_placement_file())
    text = (tmp_path / "x.json").read_text()
    (tmp_path / "x.json").write_text(text[: len(text) // 2])
    with pytest.raises(Error, match=r"x\.json:1: not JSON"):
        load_placement(tmp_path / "x.json")
