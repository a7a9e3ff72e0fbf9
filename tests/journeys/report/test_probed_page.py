# SPDX-License-Identifier: BSD-3-Clause
"""The report page of a probed machine: content and refused input."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from browser import OpenPage, open_report
from planted_probes import (
    add_message_sizes,
    add_suspect,
    infer_from_scan,
    make_group_costs,
    make_torus_costs,
    save_probe,
    write_tree_probe,
)

from topoloom.probe.inference.message_costs import Estimate

if TYPE_CHECKING:
    from tests.conftest import Command

    from topoloom.probe.findings import Findings

NASTY = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def open_probed_page(
    topoloom: Command, tmp_path: Path, browser: Any
) -> Iterator[Callable[..., OpenPage]]:
    """Return a function that writes the page of m.toml and opens it."""
    pages = []

    def open_page(**settings: Any) -> OpenPage:
        written = topoloom("report", "m.toml", "-o", "m.html")
        assert written.status == 0, written.err
        page = tmp_path / "m.html"
        shown = open_report(browser, page, **settings)
        pages.append(shown.page)
        assert shown.complaints == []
        assert shown.requests == [page.as_uri()]
        return shown

    yield open_page
    for page in pages:
        page.close()


def get_text(shown: OpenPage, selector: str) -> str:
    return str(shown.page.inner_text(selector))


def point_at_cell(shown: OpenPage, row: int, column: int, ranks: int) -> str:
    """Point at a cell of the first matrix; return the text that is then displayed."""
    box = shown.page.locator("#matrix-0").bounding_box()
    assert box is not None
    cell = (box["width"] - 52) / ranks
    x, y = box["x"] + 52, box["y"] + 34
    shown.page.mouse.move(x + (column + 0.5) * cell, y + (row + 0.5) * cell)
    return get_text(shown, "#matrix-read")


def test_the_headline_names_levels_and_the_slow_host(
    topoloom: Command, tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    summary = topoloom("report", "m.toml", "-o", "m.html", "--json").json
    assert re.fullmatch(
        r"16 ranks on 16 hosts in 2 groups: 5 us, .* GB/s between hosts of a group; "
        r"9(\.01)? us, .* GB/s between groups\. "
        r"The host n3 is slow: latency 1\.50 x its like",
        summary["headline"],
    )
    assert summary["bytes"] == Path("m.html").stat().st_size < 3_000_000
    page = Path("m.html").read_text()
    assert "topoloom machine probe -o m.toml -- mpirun -n 8" in page
    assert "topoloom report m.toml -o m.html --json" in page


def test_cells_show_the_pair_its_time_and_the_usual_time(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    shown = open_probed_page()
    near = point_at_cell(shown, 0, 1, 16)
    assert near.startswith("Between rank 0 on n0 and rank 1 on n1: 5.00 us, like ")
    assert near.endswith("the median between hosts of a group, 5.00 us.")
    slow = point_at_cell(shown, 3, 5, 16)
    assert "7.50 us, 1.50 x the median between hosts of a group" in slow
    assert "The host n3 is slow" in slow
    assert "the same rank" in point_at_cell(shown, 2, 2, 16)
    shown.page.keyboard.press("Tab")
    shown.page.focus("#matrix-1")
    shown.page.keyboard.press("ArrowRight")
    assert "rank 2 on n2 and rank 3 on n3" in get_text(shown, "#matrix-read")


def test_ranks_are_ordered_by_groups(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    by_turns = np.argsort(np.arange(12) % 2, kind="stable").argsort()
    costs = make_group_costs(12, 2, 5e-6, 9e-6)[np.ix_(by_turns, by_turns)]
    save_probe(
        infer_from_scan(costs, [f"n{host}" for host in range(12)]), tmp_path / "m.toml"
    )
    shown = open_probed_page()
    assert "rank 0 on n0 and rank 2 on n2: 5.00 us" in point_at_cell(shown, 0, 1, 12)
    assert "rank 0 on n0 and rank 1 on n1: 9.00 us" in point_at_cell(shown, 0, 6, 12)


def test_a_slow_link_is_marked_in_its_cell(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    costs = make_group_costs(8, 1, 5e-6, 5e-6)
    costs[2, 6] = costs[6, 2] = 9e-6
    found = infer_from_scan(costs, [f"n{host}" for host in range(8)])
    add_suspect(found, "link", "n2", "n6")
    save_probe(found, tmp_path / "m.toml")
    shown = open_probed_page()
    for row, column in ((2, 6), (6, 2)):
        assert "The link between n2 and n6 is slow" in point_at_cell(
            shown, row, column, 8
        )
    assert "slow" not in point_at_cell(shown, 2, 5, 8)
    assert "9.00 us" in point_at_cell(shown, 2, 6, 8)
    suspects = get_text(shown, "#suspects + .scroll tbody")
    assert re.search(
        r"link between n2 and n6\s+latency 1\.50 x\s+8 measurements", suspects
    )


def test_a_slow_uplink_affects_pairs_that_leave_the_group(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    costs = make_group_costs(8, 2, 5e-6, 9e-6)
    found = infer_from_scan(costs, [f"n{host}" for host in range(8)])
    add_suspect(found, "uplink", "n0", "n1", "n2", "n3")
    save_probe(found, tmp_path / "m.toml")
    shown = open_probed_page()
    for row, column in ((1, 6), (6, 1)):
        assert "The uplink of n0, n1, n2, n3 is slow" in point_at_cell(
            shown, row, column, 8
        )
    for row, column in ((0, 3), (4, 7)):
        assert "slow" not in point_at_cell(shown, row, column, 8)


def test_a_torus_is_compared_at_the_same_number_of_hops(
    topoloom: Command, open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    costs = make_torus_costs((4, 4, 2), 3e-6, 1e-6)
    save_probe(
        infer_from_scan(costs, [f"t{node}" for node in range(32)]), tmp_path / "m.toml"
    )
    summary = topoloom("report", "m.toml", "-o", "m.html", "--json").json
    assert summary["headline"].startswith(
        "32 ranks on 32 hosts linked to their neighbors: 4 us at 1 hop, 8 us at 5 hops"
    )
    shown = open_probed_page()
    assert "the median at 1 hop, 4.00 us" in point_at_cell(shown, 0, 1, 32)


def test_lines_are_drawn_with_their_points_and_ends(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    shown = open_probed_page()
    charts = shown.page.locator("#sizes ~ .fits svg.chart")
    assert charts.count() == 2
    # The upper chart has points for eleven sizes, and the lower one has their errors.
    assert charts.first.locator("circle").count() == 22
    assert charts.first.locator("rect.series1:not(.band)").count() == 22
    assert charts.first.locator("line.break.series0").count() == 1
    lines = get_text(shown, "[aria-label='Lines between hosts of a group'] tbody")
    first, second, burst = lines.splitlines()[:3]
    assert re.match(
        r"alone\s+1 B to [\d.]+ KiB\s+5(\.\d+)? us\s.*1 ns/B.*1 GB/s", first
    )
    assert re.match(r"alone\s+from [\d.]+ KiB\s+15(\.\d+)? us\s.*0\.1 ns/B", second)
    assert "10 GB/s" in second
    assert re.match(r"in a burst\s+from 1 B\s+1 us\s.*0\.1 ns/B", burst)


def test_lines_through_two_sizes_have_no_interval(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    def remove_intervals(found: Findings) -> None:
        for costs in found.level_costs.values():
            unknown = Estimate(1e-6, 0, math.inf)
            line = costs.alone.lines[0]
            costs.alone.lines[0] = replace(line, alpha=unknown, beta=unknown)

    write_tree_probe(tmp_path / "m.toml", remove_intervals)
    shown = open_probed_page()
    assert "unknown: too few sizes" in get_text(shown, "body")


def test_concurrent_pairs_show_their_channels(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    shown = open_probed_page()
    legend = get_text(shown, "#together ~ .fits .legend")
    assert legend.startswith(
        "2 to 3 at once do not slow each other down; one pair has 10"
    )
    assert "all have 20 GB/s, 2.0 x that" in legend


def test_groups_are_shown_as_boxes_with_hosts_and_evidence(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    shown = open_probed_page()
    boxes = shown.page.locator(".tree > .group > .boxes > .group")
    assert boxes.count() == 2
    title = boxes.first.locator("> .box-title").inner_text()
    assert re.match(r"8 hosts: n\[0-7\] 5.* us inside, 9.* us into it, p < 1e-", title)
    assert boxes.first.locator(".group.suspect").inner_text().split() == [
        "n3:", "rank", "3", "slow",
    ]  # fmt: skip
    tested = get_text(shown, "[aria-label='Groups that were tested'] tbody")
    assert "of 28 pairs" in tested or "of 56 pairs" in tested


def test_doubts_and_contradicted_claims_are_shown_first(
    topoloom: Command, tmp_path: Path
) -> None:
    def add_doubts(found: Findings) -> None:
        found.doubts.append("n7 has 2 ranks on 1 CPU")
        found.noise = 0.25
        found.claims.append("n5 is described beside n9; measured says otherwise: alone")

    write_tree_probe(tmp_path / "m.toml", add_doubts)
    topoloom("report", "m.toml", "-o", "m.html")
    page = Path("m.html").read_text()
    for sentence in ("n7 has 2 ranks on 1 CPU", "n5 is described", "25.0 % longer"):
        first, *_ = (match.start() for match in re.finditer(sentence, page))
        assert first < page.index("All pairs of ranks")


def test_a_probe_of_two_ranks_on_one_host_has_a_page(
    topoloom: Command, open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    found = add_message_sizes(
        infer_from_scan(make_group_costs(2, 1, 4e-7, 4e-7), ["here", "here"])
    )
    save_probe(found, tmp_path / "m.toml")
    summary = topoloom("report", "m.toml", "-o", "m.html", "--json").json
    assert summary["headline"].startswith("2 ranks on 1 host: 400 ns")
    shown = open_probed_page()
    assert "rank 0 on here and rank 1 on here: 400 ns" in point_at_cell(shown, 0, 1, 2)


def test_cells_of_several_ranks_show_mean_times(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    from topoloom.report.probed import costs

    ranks = 24
    save_probe(
        infer_from_scan(
            make_group_costs(ranks, 2, 5e-6, 9e-6), [f"n{n}" for n in range(ranks)]
        ),
        tmp_path / "m.toml",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "MAX_CELLS", 8)
        shown = open_probed_page()
    assert get_text(shown, "#matrix-cell").startswith("a cell is 3 ")
    read = point_at_cell(shown, 0, 6, ranks)
    assert read.startswith("Between positions 0 to 2 and positions 6 to 8: 5.00 us in ")
    assert re.search(r"9\.0\d us in the mean, like", point_at_cell(shown, 0, 20, ranks))


def test_host_names_are_escaped(
    topoloom: Command, open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    document = (tmp_path / "m.toml").read_text()
    probe = document.index("[probe]")
    named = document[probe:].replace('"n3"', json.dumps(NASTY))
    (tmp_path / "m.toml").write_text(document[:probe] + named)
    # Host names of the machine file cannot contain markup.
    refused = topoloom("report", "m.toml", "-o", "m.html")
    assert refused.status == 2
    named = document[probe:].replace("between groups of level 1", NASTY)
    (tmp_path / "m.toml").write_text(document[:probe] + named)
    shown = open_probed_page()
    assert shown.page.locator("img").count() == 0
    assert NASTY in get_text(shown, "[aria-label='Levels']")


def test_the_page_fits_a_phone_and_follows_the_theme(
    open_probed_page: Callable[..., OpenPage], tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    phone = open_probed_page(viewport={"width": 375, "height": 700})
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 375
    shade = "getComputedStyle(document.body).backgroundColor"
    light = open_probed_page(color_scheme="light")
    dark = open_probed_page(color_scheme="dark")
    assert light.page.evaluate(shade) != dark.page.evaluate(shade)
    light.page.click("#theme")
    assert light.page.evaluate(shade) == dark.page.evaluate(shade)


def test_equal_files_give_equal_pages(topoloom: Command, tmp_path: Path) -> None:
    write_tree_probe(tmp_path / "m.toml")
    pages = []
    for _ in range(2):
        topoloom("report", "m.toml", "-o", "m.html")
        pages.append(Path("m.html").read_text())
    assert pages[0] == pages[1]
    assert not re.search(r"https?://|@import|url\(", pages[0])


@pytest.mark.parametrize(
    "words",
    [
        ["m.toml", "m.toml"],
        ["m.toml", "x.json"],
        ["m.toml", "-g", "p.npz"],
        ["m.toml", "--with", "switches"],
        ["m.toml", "--switch", "quantum2"],
    ],
)
def test_a_machine_page_cannot_include_other_files(
    topoloom: Command, tmp_path: Path, words: list[str]
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    refused = topoloom("report", *words, "-o", "m.html")
    assert refused.status == 2
    assert "the page of a machine takes no placements" in refused.err
    assert len(refused.err.splitlines()) == 1
    assert not Path("m.html").exists()


def test_unmeasured_machines_are_refused(topoloom: Command, tmp_path: Path) -> None:
    topoloom("machine", "export", "torus:4x4", "-o", "t.toml")
    refused = topoloom("report", "t.toml", "-o", "m.html")
    assert refused.status == 2
    assert "t.toml is not measured; 'topoloom machine probe -o t.toml" in refused.err


def test_missing_samples_and_samples_of_another_probe_are_refused(
    topoloom: Command, tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    other = save_probe(
        infer_from_scan(make_group_costs(4, 1, 1e-6, 1e-6), [*"abcd"]),
        tmp_path / "o.toml",
    )
    Path("m.npz").unlink()
    refused = topoloom("report", "m.toml", "-o", "m.html")
    assert refused.status == 2
    assert "m.npz, the samples of m.toml, is missing" in refused.err
    other.with_suffix(".npz").rename("m.npz")
    refused = topoloom("report", "m.toml", "-o", "m.html")
    assert refused.status == 2
    assert "m.toml is of 16 ranks, but m.npz of 4" in refused.err


def test_an_error_names_the_missing_key_of_an_edited_probe(
    topoloom: Command, tmp_path: Path
) -> None:
    path = write_tree_probe(tmp_path / "m.toml")
    path.write_text(path.read_text().replace("\nsuspects = ", "\nsuspect = "))
    refused = topoloom("report", "m.toml", "-o", "m.html")
    assert refused.status == 2
    assert "m.toml: probe.suspects is missing; measure the machine again" in refused.err


def test_no_input_is_overwritten(topoloom: Command, tmp_path: Path) -> None:
    path = write_tree_probe(tmp_path / "m.toml")
    before = path.read_bytes()
    inputs = {
        "m.toml": "would replace the input",
        "m.npz": "is an input of the page; name another output file",
    }
    for name, message in inputs.items():
        link = tmp_path / f"{name}.html"
        link.symlink_to(name)
        refused = topoloom("report", "m.toml", "-o", link)
        assert message in refused.err
    assert path.read_bytes() == before


def test_the_command_machine_show_prints_the_probe_findings(
    topoloom: Command, tmp_path: Path
) -> None:
    write_tree_probe(tmp_path / "m.toml")
    shown = topoloom("machine", "show", "m.toml").out
    assert re.search(r"between hosts of a group\s+5(\.\d+)? us\s+[\d.]+ GB/s", shown)
    assert "between groups of level 1: 2 channels, 20 GB/s in all" in shown
    assert "slow host n3: latency 1.50 times as long as its like" in shown
    topoloom("machine", "export", "torus:4x4", "-o", "t.toml")
    assert "measured" not in topoloom("machine", "show", "t.toml").out
