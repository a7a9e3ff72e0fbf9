# SPDX-License-Identifier: BSD-3-Clause
"""Holds our groups to Megatron's, and imported programs to their own count."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ai.expert_optimum import Beside, beside_optimum
from ai.experts import compare as compare_experts, experts_table, seconds_for
from ai.frameworks import Held, compare_deepspeed
from ai.groups import RELEASES, Compared, compare
from ai.imported import Imported, import_large, import_programs
from ai.nccl import compare as compare_times, nccl_table
from ai.profiler import profiler_table, time_plugin
from ai.recorded import Recorded, import_job
from ai.recorder import measure, play_world, record_job, recorder_table
from ai.spread import compare_all as compare_spreads, spread_table
from peers.tables import paste

MARKS = "<!-- bench-ai: begin -->", "<!-- bench-ai: end -->"
TRACES = "<!-- bench-ai-traces: begin -->", "<!-- bench-ai-traces: end -->"
PYTORCH = "<!-- bench-ai-pytorch: begin -->", "<!-- bench-ai-pytorch: end -->"
EXPERTS = "<!-- bench-ai-experts: begin -->", "<!-- bench-ai-experts: end -->"
NCCL = "<!-- bench-ai-nccl: begin -->", "<!-- bench-ai-nccl: end -->"
PROFILER = "<!-- bench-ai-profiler: begin -->", "<!-- bench-ai-profiler: end -->"
RECORDER = "<!-- bench-ai-recorder: begin -->", "<!-- bench-ai-recorder: end -->"
SPREAD = "<!-- bench-ai-spread: begin -->", "<!-- bench-ai-spread: end -->"
AXES_PAGE = Path("reference", "benchmarks", "axes.md")
JAX = Path("build/bench-ai/venv/bin/python")
TORCH = Path("build/bench-ai/torch/bin/python")
DEEPSPEED = Path("build/bench-ai/deepspeed")
SGLANG = Path("build/bench-ai/sglang")


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("ai", description=__doc__)
    parser.add_argument("--settings", type=int, default=500, help="of a release; 500")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help="put tables there")
    parser.add_argument("--jobs", type=int, default=200, help="of DeepSpeed; 200")
    parser.add_argument("--layers", type=int, default=6, help="of experts; 6")
    parser.add_argument(
        "--only",
        choices=["experts", "spread", "nccl", "profiler", "recorder"],
        help="leave out the others",
    )
    parser.add_argument("--clusters", type=int, default=5, help="of a spread; 5")
    asked = parser.parse_args(given)
    axes_page = Path() if asked.docs is None else asked.docs / AXES_PAGE
    nccl_page = axes_page.parent / "nccl.md"
    if asked.only in (None, "spread") and asked.clusters:
        spread = spread_table(compare_spreads(asked.clusters, asked.seed))
        print(spread)
        if asked.docs:
            paste(axes_page, spread, *SPREAD)
    if asked.only == "spread":
        return
    if asked.only in (None, "nccl"):
        times = nccl_table(compare_times())
        print(times)
        if asked.docs:
            paste(nccl_page, times, *NCCL)
    if asked.only == "nccl":
        return
    if asked.only in (None, "profiler"):
        profiler = profiler_table(time_plugin())
        print(profiler)
        if asked.docs:
            paste(nccl_page, profiler, *PROFILER)
    if asked.only == "profiler":
        return
    if asked.only in (None, "recorder") and TORCH.exists():
        jobs = record_job(TORCH), play_world(TORCH), measure(TORCH)
        recorder = recorder_table(*jobs)
        print(recorder)
        if asked.docs:
            paste(axes_page, recorder, *RECORDER)
    if asked.only == "recorder":
        return
    experts = expert_tables(asked.layers, asked.seed) if asked.layers else ""
    print(experts)
    if asked.docs and experts:
        paste(axes_page, experts, *EXPERTS)
    if asked.only:
        return
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
        if torch:
            paste(axes_page, torch, *PYTORCH)
        paste(axes_page, imported_table(imported), *TRACES)
        if rows:
            paste(axes_page, table(rows), *MARKS)


def expert_tables(layers: int, seed: int) -> str:
    """Place experts beside EPLB, where it is there, and beside optima."""
    tables = []
    for wheel in sorted(SGLANG.glob("sglang-*.whl")):
        if TORCH.exists():
            tables.append(experts_table(compare_experts(TORCH, wheel, layers, 64)))
    tables.append(optimum_table(beside_optimum(20, seed), seconds_for(58)))
    return "\n".join(tables)


def optimum_table(rows: Sequence[Beside], seconds: float) -> str:
    """Write what is known of optima, and the time of a large model."""
    lines = [
        "| small jobs | jobs | at the optimum | largest gap |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.name} | {row.jobs} | {row.optimal} | {100 * row.gap:.1f} % |"
        for row in rows
    ]
    large = f"58 layers of 256 experts on 64 GPUs: {seconds:.1f} s of CPU time."
    return "\n".join([*lines, "", large]) + "\n"


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
