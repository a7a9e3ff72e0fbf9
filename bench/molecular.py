# SPDX-License-Identifier: BSD-3-Clause
"""Molecular dynamics on tori: hop-bytes and loads of bricks and other mappers.

Usage: ``PYTHONPATH=bench python -m molecular [--figure FILE]``. Prints Markdown. The
tori are those of A. Bhatele, L. V. Kale, PPL 18(4), 2008; the system has the size of
ApoA1.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from published.molecular import CELLS, NAIVE, TORI, compute_imbalance_limit
from topoloom import Allocation, Machine, Sharing, judge, place
from topoloom.graphs import molecular_dynamics

PROCESSORS = (512, 1024, 2048, 4096)
WAYS = ("block", NAIVE, "bricks", "multisection", "auto(effort=fast)")


def measure() -> list[dict[str, Any]]:
    """Place on every torus by every mapper: hop-bytes, load over mean, CPU seconds."""
    graph = molecular_dynamics(CELLS)
    results = []
    for processors in PROCESSORS:
        torus = Machine(f"torus:{TORI[processors]}")
        where = Allocation(torus, list(range(processors)))
        average = np.asarray(graph.load).sum() / processors
        for way in WAYS:
            start = process_time()
            placement = place(
                graph,
                where,
                mapper=way,
                sharing=Sharing(compute_imbalance_limit(graph, processors)),
            ).placement
            seconds = process_time() - start
            judged = judge(graph, where, placement)
            results.append(
                {
                    "processors": processors,
                    "way": way,
                    "hop_bytes": judged.hop_bytes,
                    "load": judged.load_max / average,
                    "seconds": seconds,
                }
            )
    return results


def format_table(results: list[dict[str, Any]]) -> str:
    """Format a line per torus and mapper."""
    lines = [
        "| processors | torus | placed by | million hop-bytes | load max / average "
        "| CPU |",
        "| ---: | --- | --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {it['processors']:,} | {TORI[it['processors']]} | {it['way']} "
        f"| {it['hop_bytes'] / 1e6:,.1f} | {it['load']:.2f} | {it['seconds']:.2f} s |"
        for it in results
    ]
    return "\n".join(lines)


def draw(results: list[dict[str, Any]], file: Path) -> None:
    """Draw a brick with the shells around it, and hop-bytes by processors."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from topoloom.figure.style import AFTER, BEFORE, SETTINGS, TEXT

    with pyplot.rc_context(SETTINGS):
        page, (left, right) = pyplot.subplots(
            1, 2, figsize=(8.4, 3.6), layout="constrained"
        )
        _draw_shells(left, AFTER, TEXT)
        looks: dict[str, dict[str, Any]] = {
            "block": {"color": "#999999", "linestyle": ":"},
            NAIVE: {"color": BEFORE, "marker": "o", "linestyle": "--"},
            "multisection": {"color": "#35978f", "marker": "D", "linestyle": "-."},
            "bricks": {"color": AFTER, "marker": "s"},
            "auto(effort=fast)": {"color": "#80b1d3", "marker": "^"},
        }
        for way, look in looks.items():
            heights = [it["hop_bytes"] / 1e6 for it in results if it["way"] == way]
            right.plot(PROCESSORS, heights, label=way, markersize=4, **look)
        right.set_xscale("log", base=2)
        right.set_xticks(PROCESSORS, [f"{n:,}" for n in PROCESSORS])
        right.set_ylim(bottom=0)
        right.set_xlabel("processors")
        right.set_ylabel("million hop-bytes of a step")
        right.tick_params(length=0, which="both")
        right.grid(axis="y", alpha=0.3)
        right.legend(frameon=False, fontsize=8)
        page.savefig(file, facecolor="w", metadata={"Date": None})
        pyplot.close(page)


def _draw_shells(panel: Any, color: str, text: str) -> None:
    """Draw 4 x 4 patches on a torus, and the distances from two of them."""
    from matplotlib.colors import LinearSegmentedColormap

    side = 16
    torus = Machine(f"torus:{side}x{side}")
    where = Allocation(torus, list(range(torus.node_count)))
    graph = molecular_dynamics((4, 4, 1))
    placement = place(graph, where, mapper="bricks(cells=4x4x1)").placement
    slots = np.asarray(placement.slots[:16], dtype=int)
    a, b = slots[5], slots[10]
    extra = np.array(
        [
            torus.distance(a, slot) + torus.distance(slot, b) - torus.distance(a, b)
            for slot in range(side * side)
        ]
    ).reshape(side, side)
    blues = LinearSegmentedColormap.from_list("shells", [color, "#ffffff"])
    panel.imshow(np.minimum(extra, 10), cmap=blues, alpha=0.75)
    for slot in slots:
        mark = {a: "a", b: "b"}.get(slot, "·")
        panel.text(
            slot % side, slot // side, mark, ha="center", va="center", color=text
        )
    panel.set_title("between patches a and b first, then outward")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.spines[:].set_visible(False)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("molecular", description=__doc__)
    parser.add_argument("--figure", type=Path, help="SVG to draw")
    args = parser.parse_args()
    results = measure()
    print(format_table(results))
    if args.figure is not None:
        draw(results, args.figure)


if __name__ == "__main__":
    main()
