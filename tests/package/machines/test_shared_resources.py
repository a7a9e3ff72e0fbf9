# SPDX-License-Identifier: BSD-3-Clause
"""Resources with the same cores as a closer one are kept beside the levels."""

from __future__ import annotations

import pytest

from topoloom import Error, Machine
from topoloom.machines.node_toml import read_node, write_node
from topoloom.nodes.core_shape import Container
from topoloom.nodes.node_levels import NodeCores, make_node_parts
from topoloom.nodes.node_parts import list_resource_sizes


def make_node(*shares: tuple[str, int]) -> NodeCores:
    """Make a node of 8 cores with containers of equal numbers of cores."""
    containers = [
        Container(kind, ((1 << size) - 1) << first)
        for kind, size in shares
        for first in range(0, 8, size)
    ]
    return NodeCores([1 << core for core in range(8)], containers)


@pytest.mark.parametrize(
    ("shares", "names", "shared"),
    [
        # One cache, NUMA domain and package have the same cores.
        (
            [("L3Cache", 4), ("NUMANode", 4), ("Package", 4)],
            ("L3", "node"),
            {"numa": 4, "package": 4},
        ),
        # NUMA domains are smaller than the cache that they share.
        (
            [("NUMANode", 2), ("L3Cache", 4), ("Package", 4)],
            ("L3", "node"),
            {"numa": 2, "package": 4},
        ),
        (
            [("L2Cache", 1), ("L3Cache", 2), ("Package", 4)],
            ("L3", "package", "node"),
            {},
        ),
        ([("NUMANode", 8), ("Package", 8)], ("numa",), {"package": 8}),
    ],
)
def test_hidden_resources_are_kept(
    shares: list[tuple[str, int]], names: tuple[str, ...], shared: dict[str, int]
) -> None:
    parts = make_node_parts(make_node(*shares))
    assert parts.names == names
    assert dict(parts.shared) == shared


def test_descriptions_keep_shared_resources() -> None:
    table = {"levels": [4, 2], "names": ["L3", "node"], "shared": {"package": 4}}
    text, parts, _ = read_node(table)
    assert list_resource_sizes([4, 2], parts) == {"L3": 4, "node": 8, "package": 4}
    assert write_node(Machine(f"tree:2{text}"), parts)["shared"] == {"package": 4}


@pytest.mark.parametrize(
    ("shared", "message"),
    [
        ({"socket": 4}, "no resource 'node.shared.socket'"),
        ({"package": 3}, "node.shared.package must be an integer that divides the 8"),
        ({"numa": "4"}, "node.shared.numa must be an integer"),
        (4, "node.shared"),
    ],
)
def test_wrong_shared_resources_are_refused(shared: object, message: str) -> None:
    with pytest.raises(Error, match=message):
        read_node({"levels": [4, 2], "names": ["L3", "node"], "shared": shared})
