# SPDX-License-Identifier: BSD-3-Clause
"""Figures are drawn for every kind of machine and match the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom import Allocation, CommGraph, Error, Machine, Placement, judge, place
from topoloom.allocations import fragmented_allocation
from topoloom.figure import draw_judgement
from topoloom.figure.histogram import draw_histogram
from topoloom.figure.judgement import _draw_matrices, write_headline
from topoloom.figure.links import LinkLoads, LoadUnit, find_torus_links
from topoloom.figure.matrix import MAX_CELLS, make_ordered_matrix
from topoloom.graphs import stencil


def make_ids(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.uint32)


def draw_placements(
    path: Path, machine: str, grid: list[int], nodes: int | None = None
) -> None:
    the_machine = Machine(machine)
    allocation = (
        Allocation.whole(the_machine)
        if nodes is None
        else fragmented_allocation(the_machine, nodes, 3, 1)
    )
    graph = stencil(grid, 2 * len(grid) + 1, False, 4096)
    placements = {
        mapper: place(graph, allocation, mapper=mapper).placement
        for mapper in ("block", "random")
    }
    draw_judgement(path, graph, allocation, placements)


@pytest.mark.parametrize(
    ("machine", "grid", "nodes"),
    [
        ("torus:4x4", [4, 4], None),
        ("mesh:2x3x2", [3, 2, 2], None),
        ("torus:6x5x4", [3, 3, 3], 30),
        ("torus:8", [2, 4], None),
        ("torus:2x2x2x2", [4, 4], None),
        ("tree:4:4", [4, 4], None),
        ("graph:4:0-1,1-2,2-3,3-0", [2, 2], None),
        ("torus:3x3,bandwidth=2GB/s", [3, 3], None),
    ],
)
def test_every_kind_of_machine_can_be_drawn(
    tmp_path: Path, machine: str, grid: list[int], nodes: int | None
) -> None:
    draw_placements(tmp_path / "x.svg", machine, grid, nodes)
    assert (tmp_path / "x.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("machine", ["torus:4x4x2", "mesh:4x4", "tree:4:8", "torus:1"])
def test_links_without_load_can_be_drawn(tmp_path: Path, machine: str) -> None:
    graph = CommGraph.from_edges(1, [0], [0], [8])
    allocation = Allocation.whole(Machine(machine))
    placement = place(graph, allocation, mapper="block").placement
    draw_judgement(tmp_path / "x.svg", graph, allocation, {"block": placement})
    assert (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(
    ("sizes", "labels"),
    [
        ([1000, 1000, 1000], ["1000 B"]),
        ([1024, 1024], ["1.0 KiB"]),
        ([10, 1000], ["10 B", "46.4 B", "215.4 B", "1000 B"]),
        ([], None),
    ],
)
def test_the_colors_of_the_matrix_follow_sizes(
    sizes: list[int], labels: list[str] | None
) -> None:
    """Equal sizes need one color and one label; no messages need no scale."""
    from matplotlib.figure import Figure

    ranks = range(len(sizes))
    graph = CommGraph.from_edges(4, list(ranks), [rank + 1 for rank in ranks], sizes)
    allocation = Allocation.whole(Machine("torus:4"))
    placements = {"block": Placement(allocation, make_ids(0, 1, 2, 3))}
    figure = Figure()
    _draw_matrices(figure, graph, allocation, placements, "")
    scales = figure.axes[1:]
    if labels is None:
        assert not scales
    else:
        shown = [label.get_text() for label in scales[0].get_yticklabels()]
        assert shown == labels
        assert ("logarithmic" in scales[0].get_ylabel()) == (len(labels) > 1)


@pytest.mark.parametrize("has_directions", [True, False])
def test_histograms_name_each_mapper_once(has_directions: bool) -> None:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    busy = {"block": np.array([1.0, 2.0]), "random": np.array([2.0, 0.0])}
    up = np.array([True, not has_directions])
    loads = LinkLoads(busy, 2.0, LoadUnit(np.ones(2), in_seconds=False))
    draw_histogram(axes, loads, up, ~up if has_directions else None)
    assert axes.get_legend_handles_labels()[1] == ["block", "random"]


def test_the_suffix_selects_the_figure_format(tmp_path: Path) -> None:
    draw_placements(tmp_path / "x.png", "torus:2x2", [2, 2])
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_suffix_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"figures are \.svg, \.png, \.pdf"):
        draw_placements(tmp_path / "x.bmp", "torus:2x2", [2, 2])
    assert not list(tmp_path.iterdir())


def test_equal_figures_give_equal_files(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw_placements(tmp_path / name, "torus:3x3", [3, 3])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("text", ["torus:4x3x2", "mesh:3x2", "torus:2x5"])
def test_links_are_drawn_between_the_right_vertices(text: str) -> None:
    machine = Machine(text)
    links = find_torus_links(machine)
    for link in range(machine.link_count):
        place, _, direction = machine.link_name(link).rpartition(" ")
        assert [int(c) for c in place.strip("()").split(",")] == list(links.start[link])
        assert direction[0] == ("+" if links.forward[link] else "-")
        assert direction[1] == "xyz"[links.axis[link]]


def test_the_matrix_lists_ranks_in_slot_order() -> None:
    machine = Machine("torus:3")
    allocation = Allocation(machine, make_ids(2, 0, 1))
    graph = CommGraph.from_edges(3, make_ids(0), make_ids(2), np.array([10]))
    # In the launcher's order, slots are 2, 0, 1; they contain ranks 1, 2, 0.
    placement = Placement(allocation, make_ids(1, 2, 0))
    matrix, width = make_ordered_matrix(graph, allocation, placement)
    assert width == 1
    assert matrix.tolist() == [[0, 0, 0], [0, 0, 0], [0, 10, 0]]


def test_a_large_matrix_is_summed_into_cells() -> None:
    graph = stencil([30, 40], 5, False, 100)
    allocation = Allocation.whole(Machine("torus:30x40"))
    placement = place(graph, allocation, mapper="random").placement
    matrix, width = make_ordered_matrix(graph, allocation, placement)
    assert len(matrix) == -(-1200 // width) <= MAX_CELLS
    assert matrix.sum() == graph.total_bytes


def test_the_headline_states_the_gain() -> None:
    graph = stencil([4], 3, False, 100)
    allocation = Allocation.whole(Machine("mesh:4"))

    def make_placement(*slots: int) -> Placement:
        return Placement(allocation, make_ids(*slots))

    good = judge(graph, allocation, make_placement(0, 1, 2, 3))
    bad = judge(graph, allocation, make_placement(0, 2, 1, 3))
    text = write_headline({"block": bad, "mahd": good})
    assert (
        text == "mahd cuts hop-bytes by 40 % and cuts congestion by 67 % against block"
    )
    assert (
        write_headline({"block": good, "mahd": good}) == "mahd is just as good as block"
    )
    none = judge(
        CommGraph.from_edges(4, [], [], []), allocation, make_placement(0, 1, 2, 3)
    )
    assert "raises hop-bytes from 0" in write_headline({"block": none, "mahd": good})


def test_the_headline_starts_with_the_predicted_time() -> None:
    graph = stencil([4], 3, False, 100)
    allocation = Allocation.whole(Machine("mesh:4"))
    placements = [
        Placement(allocation, make_ids(*slots)) for slots in ((0, 2, 1, 3),) * 2
    ]
    judged = {
        name: judge(graph, allocation, placement)
        for name, placement in zip(("block", "mahd"), placements, strict=True)
    }
    headline = write_headline(judged, {"block": 4e-6, "mahd": 3e-6})
    assert headline == (
        "mahd cuts the predicted time by 25 % and keeps hop-bytes against block"
    )
    assert "just as good" in write_headline(judged, {"block": 4e-6, "mahd": 4e-6})


@pytest.mark.parametrize(
    ("value", "seconds", "text"),
    [(999.0, False, "999 B"), (1500.0, False, "1.5 KiB"), (0.0021, True, "2.1 ms")],
)
def test_numbers_in_figures_have_units(value: float, seconds: Any, text: str) -> None:
    assert LoadUnit(np.ones(1), seconds).format(value) == text
