# SPDX-License-Identifier: BSD-3-Clause
"""Prints the README's table of mappers: one problem, every mapper, hops and time.

Usage: ``python docs/mapper_table.py``. The problem is a periodic 3-D stencil of 512
ranks on a ragged allocation of 512 nodes in a 25x32x16 torus; times are medians of 5,
or the only one where it exceeds a second. Mappers for other problems are left out:
those for shared slots, for few ranks, and those that start from an earlier placement.
"""

from __future__ import annotations

import statistics
import time

import topoloom

REPETITIONS = 5
STARTS = ("block", "mahd", "multisection")
ELSEWHERE = ("previous", "exact", "refine", "resettle")


def main() -> None:
    """Print the table as Markdown."""
    graph = topoloom.stencil([8, 8, 8], points=7, periodic=True, bytes=1024)
    machine = topoloom.load_machine("torus:25x32x16")
    allocation = topoloom.fragmented_allocation(machine, 512, fragments=9, seed=1)
    print("| mapper | source | hops a byte | time |")
    print("| --- | --- | ---: | ---: |")
    for name, source in chains():
        seconds = []
        for _ in range(REPETITIONS):
            start = time.perf_counter()
            placement, _ = topoloom.place(graph, allocation, mapper=name, seed=1)
            seconds.append(time.perf_counter() - start)
            if seconds[-1] > 1:
                break
        hops = topoloom.judge(graph, allocation, placement).hops_per_byte
        milliseconds = statistics.median(seconds) * 1e3
        print(f"| `{name}` | {source} | {hops:.3f} | {milliseconds:.1f} ms |")


def chains() -> list[tuple[str, str]]:
    """List every constructor, then every improver on some of them, then the efforts."""
    registry = [m for m in topoloom.mappers() if m["name"] not in ELSEWHERE]
    rows = [(m["name"], m["source"]) for m in registry if m["kind"] == "construct"]
    for improver in (m for m in registry if m["kind"] == "improve"):
        rows += [
            (f"{start}+{improver['name']}", improver["source"]) for start in STARTS
        ]
    efforts = [(f"auto(effort={effort})", "") for effort in ("fast", "best")]
    return [rows[0], *efforts, *rows[1:]]


if __name__ == "__main__":
    main()
