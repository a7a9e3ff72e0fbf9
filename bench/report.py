# SPDX-License-Identifier: BSD-3-Clause
"""The report page for 10,000 ranks and 100,000 links: size, paint times, responses.

Times are those of a headless Chromium without a GPU: first contentful paint, and the
mark that the page sets after drawing all figures. Responses to the pointer, and to a
key that rotates the machine, are timed from the event to the end of the next frame. The
CPU time of the page's main thread per response is shown, too. Targets: below 3 MB,
below 2 s, below 50 ms.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

TOPOLOOM = str(Path(sys.executable).parent / "topoloom")
#: (machine, stencil of ranks, nodes of the allocation)
CASES = {
    "torus": ("torus:26x25x26", "25x20x20", 10_000),
    "fat tree": ("fattree:25:20:20", "25x20x20", 10_000),
    "dragonfly": ("dragonfly:74x32,nodes=4,global=10", "23x20x20", 9_200),
}
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
ARGUMENTS += ["--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--disable-component-update", "--disable-sync"]

GESTURES = [("scene-marks", ""), ("scene-marks", "ArrowLeft"), ("matrix-0", "")]

#: Moves the pointer over a canvas or presses a key, and times each response with its
#: frame.
ANSWERS = """async ([id, key, moves]) => {
  const canvas = document.getElementById(id);
  canvas.scrollIntoView();
  const box = canvas.getBoundingClientRect();
  const times = [];
  for (let i = 0; i < moves; i++) {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    canvas.dispatchEvent(key ? new KeyboardEvent("keydown", {key})
      : new PointerEvent("pointermove", {
        clientX: box.left + box.width * (0.2 + 0.6 * Math.random()),
        clientY: box.top + box.height * (0.2 + 0.6 * Math.random()),
      }));
    await new Promise((done) => requestAnimationFrame(() => done()));
    const channel = new MessageChannel();
    const painted = new Promise((done) => (channel.port1.onmessage = done));
    channel.port2.postMessage(0);
    await painted;
    times.push(performance.now() - start);
  }
  return times;
}"""


def main() -> None:
    """Make a page for each case and print one line about it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--moves", type=int, default=100, help="number of pointer moves"
    )
    moves = parser.parse_args().moves
    print(f"{'':10}{'links':>9}{'MB':>7}{'paint s':>9}{'drawn s':>9}", end="")
    print("".join(f"{what + ' ms':>9}{'CPU':>7}" for what in ("link", "turn", "cell")))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS
        )
        for name, case in CASES.items():
            path = _make_page(Path(folder), *case)
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-drawn]")
            _print_times(name, path, page, moves)
            page.close()
        browser.close()


def _make_page(folder: Path, machine: str, grid: str, nodes: int) -> Path:
    def run(*words: str) -> None:
        subprocess.run([TOPOLOOM, *words], cwd=folder, check=True, capture_output=True)

    size = ["--grid", grid, "--bytes", "1024"]
    run("pattern", "generate", "stencil3d", *size, "-o", "p.npz")
    where = ["-m", machine, "--nodes", str(nodes)]
    run("map", "p.npz", *where, "--mapper", "multisection", "-o", "x.json")
    run("report", "x.json", "-o", "report.html")
    return folder / "report.html"


def _print_times(name: str, path: Path, page: Any, moves: int) -> None:
    paint = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    drawn = page.evaluate("performance.getEntriesByName('drawn')[0].startTime")
    facts = "JSON.parse(document.getElementById('facts').textContent)"
    links = page.evaluate(f"{facts}.links")
    print(f"{name:10}{links:9,}{path.stat().st_size / 1e6:7.2f}", end="")
    print(f"{paint / 1000:9.2f}{drawn / 1000:9.2f}", end="")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    for canvas, key in GESTURES:
        page.wait_for_timeout(500)
        before = _read_cpu_seconds(session)
        times = page.evaluate(ANSWERS, [canvas, key, moves])
        cpu = (_read_cpu_seconds(session) - before) / moves
        print(f"{statistics.median(times):9.1f}{1000 * cpu:7.1f}", end="")
    print(flush=True)


def _read_cpu_seconds(session: Any) -> float:
    """Return the CPU seconds of the page's main thread."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))


if __name__ == "__main__":
    main()
