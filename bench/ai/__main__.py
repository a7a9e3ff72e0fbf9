# SPDX-License-Identifier: BSD-3-Clause
"""Holds our groups to Megatron's, and imported programs to their own count."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ai.frameworks import Held, compare_deepspeed
from ai.groups import RELEASES, Compared, compare
from ai.imported import Imported, import_large, import_programs
from ai.recorded import Recorded, import_job
from peers.tables import paste

MARKS = "<!-- bench-ai: begin -->", "<!-- bench-ai: end -->"
TRACES = "<!-- bench-ai-traces: begin -->", "<!-- bench-ai-traces: end -->"
PYTORCH = "<!-- bench-ai-pytorch: begin -->", "<!-- bench-ai-pytorch: end -->"
JAX = Path("build/bench-ai/venv/bin/python")
TORCH = Path("build/bench-ai/torch/bin/python")
DEEPSPEED = Path("build/bench-ai/deepspeed")


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("ai", description=__doc__)
    parser.add_argument("--settings", type=int, default=500, help="of a release; 500")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help="put tables there")
    parser.add_argument("--jobs", type=int, default=200, help="of DeepSpeed; 200")
    asked = parser.parse_args(given)
    torch = pytorch_tables(asked.jobs, asked.seed)
    print(torch)
    imported = []
    for one in (*(import_programs(JAX) if JAX.exists() else ()), import_large()):
        imported.append(one)
        print(one, file=sys.stderr, flush=True)
    print(imported_table(imported))
    rows = []
    for release in RELEASES if asked.settings else ():
        rows.append(compare(release, asked.settings, asked.seed))
        print(rows[-1], file=sys.stderr, flush=True)
    print(table(rows))
    if asked.docs:
        page = asked.docs / "reference" / "benchmarks" / "axes.md"
        if torch:
            paste(page, torch, *PYTORCH)
        paste(page, imported_table(imported), *TRACES)
        if rows:
            paste(page, table(rows), *MARKS)


def pytorch_tables(jobs: int, seed: int) -> str:
    """Run what takes PyTorch or DeepSpeed, and write it as Markdown."""
    recorded = import_job(TORCH) if TORCH.exists() else []
    held = [
        compare_deepspeed(sources, jobs, seed)
        for sources in sorted(DEEPSPEED.glob("deepspeed-*.tar.gz"))
    ]
    tables = [recorded_table(recorded)] if recorded else []
    tables += [held_table(held)] if held else []
    return "\n".join(tables)


def recorded_table(rows: Sequence[Recorded]) -> str:
    """Write the traces of the job as Markdown."""
    lines = [
        "| trace | calls of the job | read as counted | differ | not in the trace |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.trace} | {row.counted} | {row.equal} | {len(row.differ)} "
        f"| {row.unread} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def held_table(rows: Sequence[Held]) -> str:
    """Write the groups of frameworks as Markdown."""
    lines = [
        "| framework | jobs | orders | groups compared | different |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.name} | {row.jobs} | {row.orders} | {row.groups:,} | {row.different} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def imported_table(rows: Sequence[Imported]) -> str:
    """Write the imported programs as Markdown."""
    lines = [
        "| program | mesh | bytes | bytes that differ | mesh equal | CPU seconds |",
        "| --- | --- | ---: | ---: | --- | ---: |",
    ]
    lines += [
        f"| {row.name} | {', '.join(f'{a}={n}' for a, n in row.mesh.items())} "
        f"| {row.bytes:,} | {len(row.bytes_differ)} "
        f"| {'yes' if row.mesh_equal else 'no'} | {row.seconds:.2f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def table(rows: Sequence[Compared]) -> str:
    """Write the groups as Markdown."""
    lines = [
        "| Megatron-Core | settings | names offered | groups compared | different "
        "| names it rejects | that we refuse wrongly |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.release} | {row.jobs:,} | {row.names:,} | {row.groups:,} "
        f"| {row.different} | {row.rejected} | {row.wrongly_refused} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
