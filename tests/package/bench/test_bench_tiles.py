# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of process grids: cases, peers, and a check that `tile` never loses."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tiles import figure
from tiles.__main__ import ratios
from tiles.cases import COUNT, Case, cases
from tiles.measure import OURS, measure
from tiles.peers import PEERS, Extents, hyperplane, kd_tree, nodecart, strips

STAR = {(0, 1): 1, (0, -1): 1, (1, 0): 1, (-1, 0): 1}


def test_two_hundred_cases_fill_all_their_nodes() -> None:
    every = list(cases())
    assert len(every) == len(set(every)) == COUNT
    assert {len(case.extents) for case in every} == {2, 3}
    for case in every:
        sizes = case.sizes
        assert sizes.sum() == math.prod(case.extents)
        assert 0 < sizes.min() <= sizes.max() <= case.cores
    assert any(math.prod(c.extents) % c.cores for c in every if not c.ragged)


def test_stencils_have_the_named_number_of_points() -> None:
    grid = (4, 5)
    star = Case(grid, 4, "star", periodic=True, ragged=False).edges()
    assert star.shape == (3, 4 * 20)
    box = Case(grid, 4, "box", periodic=False, ragged=False).edges()
    inner = np.count_nonzero(box[0] == 6)
    assert inner == 8
    weighted = Case(grid, 4, "weighted", periodic=False, ragged=False).edges()
    along = {int(abs(t - s)): int(sent) for s, t, sent in weighted.T}
    assert along == {5: 100, 1: 300}


@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
@pytest.mark.parametrize("extents", [(6, 8), (7, 5), (13, 2)])
def test_every_peer_assigns_every_cell_once(peer: object, extents: Extents) -> None:
    assert callable(peer)
    for cores in (2, 6, 7):
        cells = peer(extents, cores, STAR)
        assert sorted(cells.tolist()) == list(range(math.prod(extents)))


def test_peers_reproduce_examples_of_their_papers() -> None:
    assert nodecart((4, 4), 4, STAR)[:4].tolist() == [0, 1, 4, 5]
    assert nodecart((5, 5), 4, STAR)[:4].tolist() == [0, 1, 2, 3]
    assert kd_tree((4, 4), 4, STAR)[:4].tolist() == [0, 1, 4, 5]
    halves = hyperplane((4, 6), 12, STAR).reshape(2, 12)
    assert sorted(halves[0].tolist()) == [r * 6 + c for r in range(4) for c in range(3)]
    assert strips((6, 4), 4, STAR)[:5].tolist() == [0, 1, 5, 4, 8]


@pytest.mark.parametrize("case", list(cases())[:160:8], ids=lambda case: case.name)
def test_no_peer_beats_tile(case: Case) -> None:
    found = measure(case)
    for name in PEERS:
        assert found[name].total >= found[OURS].total, name


def test_ratios_in_tables_are_relative_to_tile() -> None:
    case = Case((4, 4), 4, "star", periodic=False, ragged=False)
    runs = [(case, measure(case))]
    assert ratios(runs, "block", "total") == [1.5]
    assert ratios(runs, OURS, "worst") == [1]


def test_neighbors_have_different_colors_in_the_picture(tmp_path: Path) -> None:
    node, leaving = figure.map_cells_to_nodes("tile", 8)
    colors = figure.color_nodes(node)
    touching = [(node[1:], node[:-1], colors[1:], colors[:-1])]
    touching.append((node[:, 1:], node[:, :-1], colors[:, 1:], colors[:, :-1]))
    for a, b, x, y in touching:
        assert ((a == b) == (x == y)).all()
    assert leaving == 2 * (2 * 12 + 5 * 12)
    figure.draw(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").stat().st_size > 10_000
