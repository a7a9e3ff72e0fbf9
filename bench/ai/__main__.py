# SPDX-License-Identifier: BSD-3-Clause
"""Compares AI jobs with their frameworks, and models with published measurements."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ai import (
    expert_limits,
    expert_optimum,
    experts,
    frameworks,
    groups,
    imported,
    jax_meshes,
    nccl,
    profiler,
    recorded,
    recorded_worlds,
    spread,
    step_traffic,
)
from peers.tables import write_between_marks

PAGES = Path("reference", "benchmarks")
JAX = Path("build/bench-ai/venv/bin/python")
TORCH = Path("build/bench-ai/torch/bin/python")
DEEPSPEED = Path("build/bench-ai/deepspeed")
SGLANG = Path("build/bench-ai/sglang")


class TableSource(NamedTuple):
    """A table in a page of the documentation.

    The table's name is also the name of its markers in the page.
    """

    page: str
    make: Callable[[argparse.Namespace], str]
    needs: tuple[Path, ...] = ()


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("ai", description=__doc__)
    parser.add_argument(
        "--only",
        choices=list(PARTS),
        action="append",
        help="only this table; can be repeated",
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write tables to this folder"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--clusters", type=int, default=5, help="clusters per setting of the spread [5]"
    )
    parser.add_argument("--layers", type=int, default=4, help="layers of experts [4]")
    parser.add_argument(
        "--drawn", type=int, default=10, help="drawn layers of Megatron-Core [10]"
    )
    parser.add_argument("--jobs", type=int, default=200, help="jobs of DeepSpeed [200]")
    parser.add_argument(
        "--settings",
        type=int,
        default=500,
        help="settings per release of Megatron-Core [500]",
    )
    args = parser.parse_args(argv)
    for name, part in PARTS.items():
        if args.only and name not in args.only:
            continue
        for path in part.needs:
            if not path.exists():
                parser.error(f"{name}: {path} is missing; tools/setup.sh ai makes it")
        found = part.make(args)
        print(found, flush=True)
        if args.docs:
            marks = f"<!-- bench-ai-{name}: begin -->", f"<!-- bench-ai-{name}: end -->"
            write_between_marks(args.docs / PAGES / part.page, found, *marks)


def _make_spread_table(args: argparse.Namespace) -> str:
    return spread.spread_table(spread.compare_all(args.clusters, args.seed))


def _make_nccl_table(_: argparse.Namespace) -> str:
    return nccl.nccl_table(nccl.compare())


def _make_profiler_table(_: argparse.Namespace) -> str:
    return profiler.profiler_table(profiler.time_plugin())


def _make_recorder_table(_: argparse.Namespace) -> str:
    return recorded_worlds.record_all(TORCH)


def _make_layer_table(args: argparse.Namespace) -> str:
    rows = [step_traffic.record_layer(TORCH, case) for case in step_traffic.CASES]
    drawn = [
        step_traffic.record_layer(TORCH, case)
        for case in step_traffic.draw_cases(args.drawn, args.seed)
    ]
    return "\n".join([step_traffic.layer_table(rows), step_traffic.drawn_table(drawn)])


def _make_expert_tables(args: argparse.Namespace) -> str:
    (wheel,) = SGLANG.glob("sglang-*.whl")
    optima = expert_optimum.compare_optimum(20, args.seed)
    seconds = experts.measure_placement_seconds(58)
    return "\n".join(
        [
            experts.experts_table(experts.compare(TORCH, wheel, args.layers, 64)),
            expert_optimum.optimum_table(optima),
            f"58 layers of 256 experts on 64 GPUs: {seconds:.1f} s of CPU time.\n",
            expert_limits.limits_table(
                expert_limits.find_limits(min(args.layers, 2), 64)
            ),
            expert_limits.slacks_table(expert_limits.try_slacks()),
        ]
    )


def _make_pytorch_tables(args: argparse.Namespace) -> str:
    held = [
        frameworks.compare_deepspeed(sources, args.jobs, args.seed)
        for sources in sorted(DEEPSPEED.glob("deepspeed-*.tar.gz"))
    ]
    return "\n".join(
        [
            recorded.recorded_table(recorded.import_job(TORCH)),
            frameworks.framework_table(held),
        ]
    )


def _make_trace_table(_: argparse.Namespace) -> str:
    programs = imported.import_programs(JAX)
    return imported.imported_table([*programs, imported.import_large()])


def _make_jax_table(args: argparse.Namespace) -> str:
    return jax_meshes.meshes_table(jax_meshes.compare(JAX, 500, args.seed))


def _make_group_table(args: argparse.Namespace) -> str:
    return groups.groups_table(
        [
            groups.compare(release, args.settings, args.seed)
            for release in groups.RELEASES
        ]
    )


PARTS = {
    "spread": TableSource("axes.md", _make_spread_table),
    "nccl": TableSource("nccl.md", _make_nccl_table),
    "profiler": TableSource("nccl.md", _make_profiler_table),
    "recorder": TableSource("axes.md", _make_recorder_table, (TORCH,)),
    "layers": TableSource("axes.md", _make_layer_table, (TORCH,)),
    "experts": TableSource("axes.md", _make_expert_tables, (TORCH, SGLANG)),
    "pytorch": TableSource("axes.md", _make_pytorch_tables, (TORCH, DEEPSPEED)),
    "traces": TableSource("axes.md", _make_trace_table, (JAX,)),
    "jax": TableSource("axes.md", _make_jax_table, (JAX,)),
    "groups": TableSource("axes.md", _make_group_table),
}

if __name__ == "__main__":
    main()
