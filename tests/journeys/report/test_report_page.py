# SPDX-License-Identifier: BSD-3-Clause
"""In a browser, a report draws, responds to pointer and keys, and fetches nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import OpenPage, open_report

from topoloom import CommGraph, save_graph

TOPOLOOM = str(Path(sys.executable).parent / "topoloom")
NASTY = "</script><img src=x onerror=alert(1)>"


def run_topoloom(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [TOPOLOOM, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report on 64 ranks on nodes of 2 x 2 slots; host names contain markup."""
    folder = tmp_path_factory.mktemp("report")
    run_topoloom(
        folder, "pattern", "generate", "stencil3d", "--grid", "4x4x4", "-o", "p.npz"
    )
    where = ["-m", "torus:4x4x4+node:2:2", "--nodes", "20"]
    run_topoloom(folder, "map", "p.npz", *where, "--mapper", "mahd", "-o", "x.json")
    document = json.loads((folder / "x.json").read_text())
    document["allocation"]["hosts"] = [f"{NASTY}{i}" for i in range(20)]
    document["mapper"] = f"mahd{NASTY}"
    (folder / "x.json").write_text(json.dumps(document))
    run_topoloom(folder, "report", "x.json", "-o", "r.html")
    return folder / "r.html"


@pytest.fixture
def open_page(browser: Any, report_file: Path) -> Iterator[OpenPage]:
    shown = open_report(browser, report_file)
    yield shown
    shown.page.close()
    assert shown.complaints == []
    assert shown.requests == [report_file.as_uri()]


def count_inked_pixels(page: Any, canvas: str) -> int:
    """Count the non-empty pixels of a canvas."""
    script = """id => {
      const canvas = document.getElementById(id);
      const {width, height} = canvas;
      const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
      let count = 0;
      for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
      return count;
    }"""
    return int(page.evaluate(script, canvas))


def wait_for_change(page: Any, expression: str, old_value: str) -> str:
    """Wait until the value of an expression has changed."""
    page.wait_for_function(f"was => {expression} !== was", arg=old_value)
    return str(page.evaluate(expression))


def get_text(page: Any, selector: str) -> str:
    return str(page.inner_text(selector))


def test_all_pictures_are_drawn_and_texts_are_escaped(open_page: OpenPage) -> None:
    page = open_page.page
    for canvas in ("matrix-0", "matrix-1", "scene"):
        assert count_inked_pixels(page, canvas) > 1000
    assert page.query_selector("img") is None
    assert "<img src=x" in get_text(page, "#table tbody")
    assert "<img src=x" in get_text(page, "h1")
    assert "topoloom map p.npz" in get_text(page, "main")


def test_links_show_their_load_and_its_senders(open_page: OpenPage) -> None:
    page = open_page.page
    page.focus("#scene-marks")
    page.keyboard.press("n")
    caption = get_text(page, "#scene-read")
    first = get_text(page, "#hot tbody tr:first-child th")
    assert caption.startswith(f"Link {first}: ")
    assert "Loaded by rank" in caption
    page.keyboard.press("n")
    assert get_text(page, "#scene-read") != caption
    page.click("#hot tbody tr:first-child button")
    assert get_text(page, "#scene-read") == caption
    # The pointer also finds links where the picture draws them.
    page.keyboard.press("0")
    box = page.locator("#scene-marks").bounding_box()
    assert box is not None
    texts = set()
    for step in range(40):
        page.mouse.move(
            box["x"] + box["width"] * (0.35 + 0.3 * step / 40),
            box["y"] + box["height"] * (0.3 + 0.4 * step / 40),
        )
        texts.add(get_text(page, "#scene-read"))
    assert len(texts) > 3


def test_selecting_another_view_shows_its_links(open_page: OpenPage) -> None:
    page = open_page.page
    picture = "document.getElementById('scene').toDataURL()"
    after = page.evaluate(picture)
    page.check("input[name=view][value='0']")
    wait_for_change(page, picture, after)
    assert "block (default)" in get_text(page, "#hot-title")


@pytest.mark.parametrize(
    ("machine", "mesh", "loaded_links"),
    [
        # The rings of tp go along the last axis of the torus, which has 16 links in
        # each direction.
        ("torus:4x4,bandwidth=50GB/s", "tp=4,dp=4", {"+y": 16, "-y": 16}),
        # Each group of tp is below one leaf switch, so tp uses no links above it.
        ("tree:4:4,bandwidth=50GB/s:200GB/s", "tp=4,dp=4", {"up": 16, "down": 16}),
    ],
)
def test_links_are_shown_by_the_axis_that_loads_them(
    browser: Any, tmp_path: Path, machine: str, mesh: str, loaded_links: dict[str, int]
) -> None:
    axes = [axis[:2] for axis in mesh.split(",")]
    sends = ",".join(f"{axis}={9 // (1 + n)}GB" for n, axis in enumerate(axes))
    options = ["--mesh", mesh, "--traffic", sends, "--machine", machine]
    run_topoloom(
        tmp_path, "ai", "axes", *options, "--write-graph", "p.npz", "-o", "x.json"
    )
    run_topoloom(tmp_path, "report", "x.json", "-o", "r.html")
    shown = open_report(browser, tmp_path / "r.html")
    page = shown.page
    assert get_text(page, "#parts").split() == ["Links", "loaded", "by", "all", *axes]
    picture = "document.getElementById('scene').toDataURL()"
    every = page.evaluate(picture)
    page.check("input[name=part][value='0']")
    wait_for_change(page, picture, every)
    assert get_text(page, "#hot-title").endswith(", loaded by tp")
    page.focus("#scene-marks")
    visited, last = dict.fromkeys(loaded_links, 0), ""
    while True:
        page.keyboard.press("n")
        read = get_text(page, "#scene-read")
        if read == last:
            break
        found = re.match(r"Link .* (\S+): .* of tp, 100 % of .* Of all: tp ", read)
        assert found, read
        visited[found[1]] += 1
        last = read
    assert visited == loaded_links
    page.check("input[name=part][value='']")
    page.wait_for_function(f"every => {picture} === every", arg=every)
    page.close()
    assert shown.complaints == []


def test_the_machine_turns_by_pointer_and_by_keys(open_page: OpenPage) -> None:
    page = open_page.page
    picture = "document.getElementById('scene').toDataURL()"
    seen = [page.evaluate(picture)]
    page.focus("#scene-marks")
    for key in ("ArrowLeft", "ArrowUp", "+"):
        page.keyboard.press(key)
        seen.append(wait_for_change(page, picture, seen[-1]))
    page.drag_and_drop(
        "#scene-marks",
        "#scene-marks",
        source_position={"x": 300, "y": 200},
        target_position={"x": 380, "y": 220},
    )
    dragged = wait_for_change(page, picture, seen[-1])
    assert len({*seen, dragged}) == 5
    page.keyboard.press("0")
    page.wait_for_function(f"first => {picture} === first", arg=seen[0])


def test_the_matrix_shows_pairs_and_bytes_at_every_zoom(open_page: OpenPage) -> None:
    page = open_page.page
    page.focus("#matrix-0")
    for _ in range(4):
        page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    assert re.match(
        r"From rank \d+ at position \d+ to rank \d+ .* B in",
        get_text(page, "#matrix-read"),
    )
    label = "document.getElementById('matrix-0').getAttribute('aria-label')"
    close = page.evaluate(label)
    page.keyboard.press("0")
    wait_for_change(page, label, close)
    # Rank 0 sends to its neighbor rank 1, both in the launcher's order.
    box = page.locator("#matrix-0").bounding_box()
    assert box is not None
    cell = (box["width"] - 52) / 64
    page.mouse.move(box["x"] + 52 + 1.5 * cell, box["y"] + 34 + 0.5 * cell)
    assert "From rank 0 at position 0 to rank 1 at position 1" in get_text(
        page, "#matrix-read"
    )


def test_nodes_are_sorted_searched_and_opened(open_page: OpenPage) -> None:
    page = open_page.page
    ranks = "#table tbody tr:first-child td.ranks"
    page.click("#table th:has-text('ranks') button")
    assert page.get_attribute("#table th:has-text('ranks')", "aria-sort") == "ascending"
    first = get_text(page, ranks)
    assert first.split()[0] == "0"
    page.focus("#table th:has-text('ranks') button")
    page.keyboard.press("Enter")
    assert get_text(page, ranks) != first
    page.fill("#search", "rank 63")
    assert get_text(page, "#found") == "1 to 1 of 1 node"
    assert "63" in get_text(page, ranks).split()
    page.click("#table tbody tr:first-child button")
    assert page.locator("#node-slots .slot").count() == 4
    assert page.locator("#node-slots > div > .group > li > .group").count() == 2
    # Keyboard focus is on the shown node.
    assert page.evaluate("document.activeElement.id") == "scene-marks"
    assert page.locator("#table tbody tr.chosen").count() == 1
    page.fill("#search", "nowhere")
    assert get_text(page, "#found") == "no node"


def test_the_page_is_dark_if_the_system_or_the_reader_prefers_it(
    browser: Any, report_file: Path
) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    light = open_report(browser, report_file, color_scheme="light").page
    dark = open_report(browser, report_file, color_scheme="dark").page
    assert light.evaluate(shade) != dark.evaluate(shade)
    light.click("#theme")
    assert light.evaluate(shade) == dark.evaluate(shade)
    picture = "document.getElementById('matrix-0').toDataURL()"
    in_the_dark = dark.evaluate(picture)
    dark.emulate_media(media="print")
    wait_for_change(dark, picture, in_the_dark)
    assert dark.evaluate("getComputedStyle(document.body).colorScheme") == "light"
    assert not dark.is_visible("#theme")
    assert dark.is_visible("#scene")
    light.close()
    dark.close()


def test_print_output_does_not_depend_on_the_theme(
    browser: Any, report_file: Path
) -> None:
    printed = []
    for scheme in ("light", "dark"):
        page = open_report(browser, report_file, color_scheme=scheme).page
        printed.append(extract_images(page.pdf()))
        page.close()
    assert len(printed[0]) >= 3
    assert printed[0] == printed[1]


def extract_images(pdf: bytes) -> list[bytes]:
    """Extract the compressed images of a PDF."""
    parts = re.findall(rb"<<([^>]*)>>\s*stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    return [packed for facts, packed in parts if b"/Subtype /Image" in facts]


def test_host_names_that_look_like_ranks_can_be_searched(
    browser: Any, tmp_path: Path
) -> None:
    run_topoloom(
        tmp_path, "pattern", "generate", "ring", "--ranks", "16", "-o", "p.npz"
    )
    run_topoloom(tmp_path, "map", "p.npz", "-m", "torus:16", "-o", "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    document["allocation"]["hosts"] = [f"r{15 - i:02}n0" for i in range(16)]
    (tmp_path / "x.json").write_text(json.dumps(document))
    run_topoloom(tmp_path, "report", "x.json", "-o", "r.html")
    page = open_report(browser, tmp_path / "r.html").page
    page.fill("#search", "r12")
    assert get_text(page, "#found") == "1 to 1 of 1 node"
    assert "r12n0" in get_text(page, "#table tbody")
    page.close()


def test_a_pattern_without_messages_is_drawn(browser: Any, tmp_path: Path) -> None:
    save_graph(tmp_path / "p.npz", CommGraph.from_edges(1, [], [], []))
    run_topoloom(tmp_path, "map", "p.npz", "-m", "torus:4x4x4", "-o", "x.json")
    run_topoloom(tmp_path, "report", "x.json", "-o", "r.html")
    opened = open_report(browser, tmp_path / "r.html")
    assert get_text(opened.page, "#scene-top") == "0 B"
    assert count_inked_pixels(opened.page, "scene") > 1000
    opened.page.close()
    assert opened.complaints == []


def test_a_page_that_cannot_be_drawn_shows_a_message(
    browser: Any, report_file: Path
) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(report_file.as_uri())
    page.wait_for_function(
        "document.getElementById('scene-read').textContent.includes('cannot be drawn')"
    )
    page.close()


def test_a_phone_does_not_scroll_sideways(browser: Any, report_file: Path) -> None:
    phone = {"width": 375, "height": 700}
    page = open_report(browser, report_file, viewport=phone, device_scale_factor=2).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.close()


def test_all_elements_have_names_for_screen_readers(open_page: OpenPage) -> None:
    page = open_page.page
    slider = page.get_attribute("#scene-most", "aria-valuetext")
    assert slider == get_text(page, "#scene-most-text") != ""
    unnamed = page.evaluate("""() => [...document.querySelectorAll(
        "button, input, canvas[tabindex], svg[role], [role=region], fieldset")]
      .filter(e => !(e.ariaLabel || e.getAttribute("aria-labelledby")
        || e.labels?.length || e.textContent.trim()))
      .map(e => e.outerHTML)""")
    assert unnamed == []
    named = page.evaluate("""() => [...document.querySelectorAll(
        "[aria-labelledby], [aria-describedby]")]
      .flatMap(e => ["labelledby", "describedby"].map(a => e.getAttribute(`aria-${a}`)))
      .filter(id => id && !document.getElementById(id))""")
    assert named == []
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map(e => +e.tagName[1])"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
