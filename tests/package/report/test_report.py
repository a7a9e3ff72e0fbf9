# SPDX-License-Identifier: BSD-3-Clause
"""A report contains the results of `judge` in few bytes, with all texts escaped."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import topoloom
from topoloom.figure.links import choose_load_unit
from topoloom.placements.measures import collect_measures
from topoloom.report import page_data, text
from topoloom.report.histogram import make_histogram
from topoloom.report.matrix import find_positions, make_finest_level
from topoloom.report.page import render_report
from topoloom.report.page_data import (
    PlacementView,
    Report,
    collect_page_data,
    count_explained_links,
)
from topoloom.report.scene import find_wrapping_links, make_scene
from topoloom.report.text import find_heaviest_pairs
from topoloom.tasks.optimality_gap import compute_gaps, prove_quick_bounds
from topoloom.tasks.problem import place_like_launcher

NASTY = "</script><img src=x onerror=alert(1)>'\"&{{7*7}}"
_TYPES = {"Uint8": "<u1", "Uint16": "<u2", "Uint32": "<u4", "Float32": "<f4"}
MACHINES = [
    "torus:4x4x2",
    "torus:2x8",
    "torus:16",
    "mesh:4x4",
    "torus:2x2x2x2x2",
    "twisted:2x2x4,twist.x=0:0:2",
    "tree:4:4:2",
    "fattree:4:4:2",
    "torus:2x4,nodes=2",
    "torus:2x4,nodes=2,hosts=free",
    "mesh:4x4,cards=2",
    "dragonfly:5x4,nodes=2",
    "dragonfly:5x4,hosts=free",
    "dragonflyplus:4x3x2,nodes=2",
    "ring:16",
    "hyperx:4x4",
    "hypercube:4",
    "rails:4:4:2",
    "graph:16+1:" + ",".join(f"{node}-16" for node in range(16)),
    "torus:4x4+node:2:2",
    "torus:4x4+down:0-1",
]


def make_report(
    machine: str = "torus:4x4x2", hosts: tuple[str, ...] | None = None, **more: Any
) -> Report:
    """Report 16 ranks of a 2-D stencil with uneven bytes, placed by mahd."""
    plain = topoloom.graphs.stencil([4, 4], points=5, periodic=False, bytes=1000)
    source = np.repeat(np.arange(16), np.diff(np.asarray(plain.first).astype(int)))
    amount = 1000 + 37 * np.arange(plain.edge_count)
    graph = topoloom.CommGraph.from_edges(16, source, np.asarray(plain.peer), amount)
    allocation = topoloom.Allocation.whole(topoloom.Machine(machine))
    default = place_like_launcher(graph, allocation)
    placed = topoloom.place(graph, allocation, mapper="mahd").placement
    bounds = prove_quick_bounds(graph, allocation)
    views = []
    for name, placement in (("block (default)", default), ("mahd", placed)):
        judgement = topoloom.judge(graph, allocation, placement, hottest=1000)
        values = collect_measures(judgement)
        far = compute_gaps(values, bounds)
        views.append(PlacementView(name, placement, judgement, values, far))
    return Report(graph, allocation, views, 1, hosts, bounds, **more)


def decode_page_data(report: Report) -> tuple[dict[str, Any], dict[str, Any]]:
    """Decode the data as the page does."""
    facts, pack = collect_page_data(report)
    letters = pack.format_html()
    arrays: dict[str, Any] = {}
    for name, entry in facts["arrays"].items():
        part = zlib.decompress(base64.b64decode(letters[entry["at"] : entry["end"]]))
        if entry["type"] == "text":
            arrays[name] = part.decode().split("\n")
            continue
        kind = np.dtype(_TYPES[entry["type"]])
        planes = np.frombuffer(part, np.uint8).reshape(kind.itemsize, entry["count"])
        values = np.ascontiguousarray(planes.T).view(f"<u{kind.itemsize}").reshape(-1)
        if entry["steps"]:
            values = np.cumsum(values, dtype=values.dtype)
        arrays[name] = values.view(kind)
    return facts, arrays


@pytest.mark.parametrize("machine", MACHINES)
def test_every_link_of_every_kind_of_machine_is_listed_with_its_load(
    machine: str,
) -> None:
    report = make_report(machine)
    _, arrays = decode_page_data(report)
    names = arrays["link.name"]
    assert len(names) == report.machine.link_count - 2 * ("+down" in machine)
    ids = {report.machine.link_name(i): i for i in range(report.machine.link_count)}
    link = [ids[name] for name in names]
    scene = make_scene(report.machine)
    for index, view in enumerate(report.views):
        loads = np.asarray(view.judgement.loads)
        assert arrays[f"view{index}.load"] == pytest.approx(loads[link], rel=1e-5)
        hottest = [names[i] for i in arrays[f"view{index}.hot"]]
        assert hottest == [name for name, *_ in view.judgement.hottest]
    assert len(arrays["vertex.place"]) == 3 * len(scene.coordinates)
    ends = [report.machine.link_ends(i) for i in link]
    assert list(zip(arrays["link.from"], arrays["link.to"], strict=True)) == ends


@pytest.mark.parametrize("machine", MACHINES)
def test_vertices_do_not_overlap(machine: str) -> None:
    coordinates = make_scene(topoloom.Machine(machine)).coordinates
    apart = np.linalg.norm(coordinates[:, None] - coordinates[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 0.005 * np.ptp(coordinates, axis=0).max()


def test_wraparound_links_leave_the_grid() -> None:
    machine = topoloom.Machine("torus:4x2x3")
    ends = np.array([machine.link_ends(i) for i in range(machine.link_count)])
    out = find_wrapping_links(make_scene(machine), [4, 2, 3], ends)
    for axis, (extent, sign) in enumerate(zip((4, 2, 3), "xyz", strict=True)):
        rings = 24 // extent
        names = [
            machine.link_name(i) for i in np.flatnonzero((out + 1) // 2 == axis + 1)
        ]
        assert len(names) == 2 * rings
        assert {name[-1] for name in names} == {sign}


@pytest.mark.parametrize("machine", ["torus:4x4x2", "tree:4:4:2"])
def test_every_level_of_the_matrix_contains_all_bytes(machine: str) -> None:
    report = make_report(machine)
    for view in report.views:
        level = make_finest_level(
            report.graph, find_positions(report.allocation, view.placement)
        )
        assert level.width == 1
        assert len(level.row) == report.graph.edge_count
        while level.width < 32:
            assert level.bytes.sum() == report.graph.total_bytes
            level = level.coarsen()
        assert len(level.row) == 1


def test_the_matrix_lists_ranks_in_slot_order() -> None:
    report = make_report()
    _, arrays = decode_page_data(report)
    for index, view in enumerate(report.views):
        slots = np.asarray(view.placement.slots)
        ranks = arrays[f"view{index}.rank"]
        assert (np.diff(slots[ranks].astype(int)) > 0).all()
        row = np.repeat(np.arange(16), arrays[f"view{index}.matrix.count"])
        sent = np.bincount(ranks[row], arrays[f"view{index}.matrix.bytes"], 16)
        first = np.asarray(report.graph.first).astype(int)
        assert sent == pytest.approx(
            np.add.reduceat(report.graph.bytes, first[:-1]), rel=1e-5
        )


def test_link_contributors_equal_the_contributors_of_judge() -> None:
    report = make_report()
    _, arrays = decode_page_data(report)
    hottest = report.views[1].judgement.hottest
    source = arrays["view1.source"].reshape(-1, 3)
    amount = arrays["view1.bytes"].reshape(-1, 3)
    for row, (_, load, _, loaders) in enumerate(hottest):
        assert [int(s) for s in source[row, : len(loaders)]] == [s for s, *_ in loaders]
        assert amount[row].sum() <= load


def test_a_matrix_that_is_too_large_is_coarsened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("topoloom.report.page_data.MAX_CHARACTERS", 3_200)
    report = make_report()
    facts, arrays = decode_page_data(report)
    for index, view in enumerate(facts["views"]):
        assert view["width"] in (2, 4, 8, 16)
        total = arrays[f"view{index}.matrix.bytes"].sum()
        assert total == pytest.approx(report.graph.total_bytes, rel=1e-5)


def test_all_matrices_have_the_same_cell_width(monkeypatch: pytest.MonkeyPatch) -> None:
    report = make_report()
    # In a scattered placement, more matrix cells are nonzero than in launcher order.
    scattered = topoloom.place(
        report.graph, report.allocation, "random", seed=3
    ).placement
    views = [report.views[0], replace(report.views[1], placement=scattered)]
    positions = [find_positions(report.allocation, view.placement) for view in views]
    cells = [make_finest_level(report.graph, position) for position in positions]
    coarser = [len(level.coarsen().row) for level in cells]
    assert coarser[0] < coarser[1]
    monkeypatch.setattr("topoloom.report.matrix.MAX_CELLS", coarser[0])
    facts, _ = decode_page_data(replace(report, views=views))
    assert facts["views"][0]["width"] == facts["views"][1]["width"] > 2


def test_messages_are_counted_exactly() -> None:
    report = make_report()
    graph = topoloom.CommGraph.from_edges(16, [0], [9], [8], [12_345_677])
    views = []
    for view in report.views:
        judgement = topoloom.judge(graph, report.allocation, view.placement)
        views.append(replace(view, judgement=judgement))
    _, arrays = decode_page_data(replace(report, graph=graph, views=views))
    assert arrays["view1.messages_out"].max() == 12_345_677


def test_an_increase_from_zero_has_no_percentage() -> None:
    report = make_report("torus:4x4+node:16")
    sparse = topoloom.place(report.graph, report.allocation, "random", seed=1).placement
    on = (report.graph, report.allocation, sparse)
    judgement = topoloom.judge(*on)
    values = collect_measures(judgement)
    worse = replace(report.views[1], judgement=judgement, values=values)
    found = text.collect_page_texts(replace(report, views=[report.views[0], worse]))
    raised = "mahd raises hop-bytes from 0 and raises congestion from 0"
    assert found["title"] == f"{raised} against block (default)"
    page = render_report(replace(report, views=[report.views[0], worse]))
    assert "more, from none" in page


def test_headline_numbers_say_what_is_proven() -> None:
    report = make_report("mesh:4x4")
    view, bounds = report.views[1], report.bounds
    assert bounds is not None
    hop_bytes, _, dilation = text.collect_page_texts(report)["numbers"]
    assert hop_bytes.proof == f"proven: not below {bounds.hop_bytes:,}"
    assert dilation.proof == ""
    best = replace(view, gaps={"hop_bytes": 1.0})
    shown = text.collect_page_texts(replace(report, views=[report.views[0], best]))
    assert shown["numbers"][0].proof == "proven optimal"


def test_the_histogram_counts_every_link_once() -> None:
    report = make_report()
    by = choose_load_unit(report.machine)
    busy = [by.compute_loads(view.judgement) for view in report.views]
    shown = make_histogram((busy[0], busy[1]), ["a", "b"], by)
    for view in (0, 1):
        counted = sum(row[1 + view] for row in shown.rows)
        assert counted + shown.idle[view] == shown.links == report.machine.link_count


def test_pairs_are_sorted_by_bytes_and_listed_with_hops() -> None:
    report = make_report()
    pairs = find_heaviest_pairs(report)
    heaviest = int(np.argmax(report.graph.bytes))
    assert pairs[0].target == report.graph.peer[heaviest]
    slots = report.views[1].placement.slots
    hops = report.machine.hops(int(slots[pairs[0].source]), int(slots[pairs[0].target]))
    assert pairs[0].hops[1] == hops


class TagCollector(HTMLParser):
    """Collects the tags of a page, and the event handlers in their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.handlers += [name for name, _ in attrs if name == "src"]


def test_texts_of_inputs_are_escaped_in_the_page() -> None:
    hosts = tuple(f"{NASTY}{i}" for i in range(32))
    report = make_report(hosts=hosts, graph_file=NASTY, command=("topoloom", NASTY))
    made = topoloom.PlacementFile(
        report.machine,
        report.allocation,
        report.views[1].placement,
        mapper=NASTY,
        objective=NASTY,
        graph=NASTY,
        command=("topoloom", NASTY),
    )
    view = replace(report.views[1], name=NASTY, made=made, file=NASTY)
    page = render_report(replace(report, views=[report.views[0], view]))
    seen = TagCollector(page)
    assert "img" not in seen.tags
    assert seen.handlers == []
    assert seen.tags.count("script") == 3
    # The texts are unchanged in the data and in the parsed HTML.
    found = re.search(r'id="facts">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert json.loads(found[1])["views"][1]["name"] == NASTY
    assert "{{7*7}}" in page
    _, arrays = decode_page_data(report)
    assert tuple(arrays["node.host"]) == hosts


def test_the_page_fetches_nothing_and_runs_no_other_scripts() -> None:
    page = render_report(make_report())
    assert "default-src 'none'" in page
    assert not re.search(r"https?://", page)
    assert not re.search(r"@import|url\(", page)


def test_equal_reports_give_equal_pages() -> None:
    assert render_report(make_report()) == render_report(make_report())


def test_more_ranks_than_a_page_can_show_are_refused() -> None:
    graph = topoloom.graphs.ring(100_001)
    allocation = topoloom.Allocation.whole(topoloom.Machine("torus:330x304"))
    with pytest.raises(
        topoloom.Error, match="a page can show 100,000 ranks, not 100,001"
    ):
        collect_page_data(Report(graph, allocation, [], 0))


@pytest.mark.full
def test_ten_thousand_random_ranks_on_a_hundred_thousand_links_fit() -> None:
    # Random bytes and slots are the worst case for the compression.
    graph = topoloom.graphs.random_geometric(10_000, seed=1, degree=40)
    amount = np.random.default_rng(1).integers(1, 2**40, graph.edge_count)
    graph = topoloom.CommGraph.from_csr(graph.first, graph.peer, amount)
    allocation = topoloom.Allocation.whole(topoloom.Machine("torus:26x25x26"))
    views = []
    for seed in (1, 2):
        placement = topoloom.place(graph, allocation, "random", seed=seed).placement
        on = (graph, allocation, placement)
        judged = topoloom.judge(*on, hottest=count_explained_links(2))
        values = collect_measures(judged)
        views.append(PlacementView(f"random {seed}", placement, judged, values, {}))
    page = render_report(Report(graph, allocation, views, 1))
    assert len(page.encode()) < 3_000_000


def test_hot_links_are_limited_by_the_links_of_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_data, "MAX_LINKS", 40)
    report = make_report()
    _, arrays = decode_page_data(report)
    assert len(arrays["link.from"]) == 20
    for index, view in enumerate(report.views):
        hot = arrays[f"view{index}.hot"]
        assert 0 < len(hot) < len(view.judgement.hottest)
        loads = arrays[f"view{index}.load"][hot]
        assert len(arrays[f"view{index}.bytes"]) == 3 * len(hot)
        assert all(loads > 0)
