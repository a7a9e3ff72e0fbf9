# SPDX-License-Identifier: BSD-3-Clause
"""Process grids on nodes from Python: node maps, tiles, times, and the mapper."""

from __future__ import annotations

import math

import pytest

import topoloom
from topoloom import graphs, placements, schedules, tasks
from topoloom.tasks.collectives.tiles import COLLECTIVES


def test_row_order_and_tiles_have_the_published_link_counts() -> None:
    rows = schedules.NodeMap([4, 4], [i // 4 for i in range(16)])
    assert rows.leaving == [[4, 4, 4, 0], [0, 0, 0, 0]]
    tiles = schedules.NodeMap(
        [4, 4], [r // 2 * 2 + c // 2 for r in range(4) for c in range(4)]
    )
    assert tiles.leaving == [[2, 2, 0, 0], [2, 0, 2, 0]]
    assert rows.external_links == tiles.external_links == 4
    assert tiles.inner_rounds == [1, 1]


def test_tiles_have_the_least_surface_of_all_that_divide_the_grid() -> None:
    for cores in (4, 6, 8, 12, 24):
        tiles = placements.node_tiles([24, 48], cores)
        surfaces = [placements.tile_surface(tile) for tile in tiles]
        every = [[k, cores // k] for k in range(1, cores + 1) if cores % k == 0]
        fitting = [t for t in every if 24 % t[0] == 0 and 48 % t[1] == 0]
        assert sorted(tiles) == sorted(fitting)
        assert surfaces == sorted(surfaces)
    assert placements.node_tiles([100, 200], 12) == []
    assert placements.node_tiles([24, 24], 8, [1, 9])[0] == [1, 8]
    with pytest.raises(topoloom.Error, match="3 weights for 2 axes"):
        placements.node_tiles([24, 24], 8, [1, 2, 3])


@pytest.mark.parametrize("collective", ["pipelined", "bcast", "scatter", "gather"])
@pytest.mark.parametrize(("grid", "cores"), [([24, 36], 12), ([6, 4, 10], 8)])
def test_the_first_tile_is_the_fastest(
    collective: str, grid: list[int], cores: int
) -> None:
    for channels in (1, 2, 5):
        links = schedules.GridLinks(
            latency_s=1e-6,
            outer_s_per_byte=1e-9,
            inner_s_per_byte=2e-10,
            channels=channels,
        )
        found = tasks.time_tiles(grid, cores, links, 1e6, collective)
        tiles = placements.node_tiles(grid, cores)
        assert sorted(one.tile for one in found) == sorted(tiles)
        key = COLLECTIVES[collective]
        first = getattr(found[0].traffic, key)
        for one in found:
            assert getattr(one.traffic, key) >= first * (1 - 1e-8)
            # A tile has as many links as its surface has cells, without axes that one
            # tile fills.
            surface = sum(
                math.prod(one.tile) // side
                for side, extent in zip(one.tile, grid, strict=True)
                if extent > side
            )
            assert one.traffic.external_links == surface


def test_step_times_add_up_and_more_channels_never_slow_down() -> None:
    node_map = schedules.NodeMap([8], list(range(8)))
    links = schedules.GridLinks(latency_s=1e-6, outer_s_per_byte=1e-9)
    assert node_map.binomial_time("bcast", links, 1000) == pytest.approx(3 * 2e-6)
    assert node_map.pipelined_time(links, 1000, 100) == pytest.approx(16 * 1.1e-6)
    assert 0 < node_map.best_segment(links, 1000) <= 1000
    wide = schedules.NodeMap([4, 4], [i // 4 for i in range(16)])
    times = [
        wide.binomial_time(
            "gather",
            schedules.GridLinks(outer_s_per_byte=1e-9, channels=c),
            1000,
        )
        for c in (1, 2, 4, 8)
    ]
    assert times == sorted(times, reverse=True)
    with pytest.raises(topoloom.Error, match="there are bcast, reduce"):
        wide.binomial_time("scan", links, 1)


def test_auto_is_no_worse_than_tile_if_no_tile_fits() -> None:
    graph = graphs.stencil([13, 21], points=5, periodic=False, bytes=100)
    machine = topoloom.load_machine("tree:39+node:7")
    allocation = topoloom.Allocation.whole(machine)
    found = {}
    for mapper in ("auto(effort=fast)", "tile", "tile(grid=13x21)", "block"):
        placement = topoloom.place(graph, allocation, mapper).placement
        found[mapper] = topoloom.judge(graph, allocation, placement).inter_node_bytes
    assert found["auto(effort=fast)"] <= found["tile"] <= found["block"]
    # The inferred grid may be the transposed one, but both can be cut equally well.
    assert found["tile"] == pytest.approx(found["tile(grid=13x21)"], rel=0.05)
