# SPDX-License-Identifier: BSD-3-Clause
"""Prints tables that compare mappers: one problem, hops, congestion and time.

Usage: ``python docs/tables/mapper_table.py``. The problem is a periodic 3-D stencil of
512 ranks on a ragged allocation of 512 nodes in a 25x32x16 torus; times are medians of
5, or the only one where it exceeds a second. The first table has every mapper, the
second those that go by links, under ``--objective congestion``. Mappers for other
problems are omitted: those for shared slots, for molecular dynamics, for few ranks, and
those that start from an earlier placement.
"""

from __future__ import annotations

import statistics
import time

import topoloom

REPETITIONS = 5
STARTS = ("block", "mahd", "multisection")
BY_LINKS = ("local-opt", "congestion")
ELSEWHERE = (
    *("previous", "hashed", "box", "bricks", "exact", "refine", "resettle"),
    "affinity",
)


def main() -> None:
    """Print the tables as Markdown."""
    print("| mapper | source | hops per byte | time |")
    print("| --- | --- | ---: | ---: |")
    for name, source in chains():
        found, milliseconds = measure(name, "hop-bytes")
        hops = f"{found.hops_per_byte:.3f}"
        print(f"| `{name}` | {source} | {hops} | {milliseconds:.1f} ms |")
    print("\n| mapper | source | KiB on the busiest link | hops per byte |")
    print("| --- | --- | ---: | ---: |")
    for name, source in chains_by_links():
        found, _ = measure(name, "congestion")
        values = f"{found.congestion_max / 1024:.1f} | {found.hops_per_byte:.3f}"
        print(f"| `{name}` | {source} | {values} |")


def measure(name: str, objective: str) -> tuple[topoloom.Judgement, float]:
    """Place with a chain of mappers; return what that is worth, and milliseconds."""
    graph = topoloom.graphs.stencil([8, 8, 8], points=7, periodic=True, bytes=1024)
    machine = topoloom.load_machine("torus:25x32x16")
    allocation = topoloom.allocations.fragmented_allocation(
        machine, 512, fragments=9, seed=1
    )
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        placement = topoloom.place(
            graph, allocation, mapper=name, seed=1, objective=objective
        ).placement
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > 1:
            break
    judgement = topoloom.judge(graph, allocation, placement)
    return judgement, statistics.median(seconds) * 1e3


def chains() -> list[tuple[str, str]]:
    """List every constructor, then every improver on some of them, then the efforts."""
    away = (*ELSEWHERE, *BY_LINKS)
    registry = [m for m in topoloom.mappers() if m["name"] not in away]
    rows = [(m["name"], m["source"]) for m in registry if m["kind"] == "construct"]
    for improver in (m for m in registry if m["kind"] == "improve"):
        rows += [
            (f"{start}+{improver['name']}", improver["source"]) for start in STARTS
        ]
    efforts = [(f"auto(effort={effort})", "") for effort in ("fast", "best")]
    return [rows[0], *efforts, *rows[1:]]


def chains_by_links() -> list[tuple[str, str]]:
    """List the improvers that go by links, beside what launchers do and auto."""
    sources = {m["name"]: m["source"] for m in topoloom.mappers()}
    rows = [
        (f"{start}+{improver}", sources[improver])
        for improver in BY_LINKS
        for start in STARTS
    ]
    return [("auto", ""), ("auto(effort=fast)", ""), ("block", ""), *rows]


if __name__ == "__main__":
    main()
