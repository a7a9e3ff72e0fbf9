# SPDX-License-Identifier: BSD-3-Clause
"""Prints the README's table of mappers: one problem, every mapper, hops and time.

Usage: ``python docs/mapper_table.py``. The problem is a periodic 3-D stencil of 512
ranks on a ragged allocation of 512 nodes in a 25x32x16 torus; times are medians of 5.
"""

from __future__ import annotations

import statistics
import time

import topoloom

REPETITIONS = 5


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
        hops = topoloom.judge(graph, allocation, placement).hops_per_byte
        milliseconds = statistics.median(seconds) * 1e3
        print(f"| `{name}` | {source} | {hops:.3f} | {milliseconds:.1f} ms |")


def chains() -> list[tuple[str, str]]:
    """List every constructor alone, then the better ones with every improver."""
    registry = topoloom.mappers()
    rows = [(m["name"], m["source"]) for m in registry if m["kind"] == "construct"]
    for improver in (m for m in registry if m["kind"] == "improve"):
        starts = ("block", "hilbert", "gge", "mahd", "emahd")
        rows += [
            (f"{start}+{improver['name']}", improver["source"]) for start in starts
        ]
    return rows


if __name__ == "__main__":
    main()
