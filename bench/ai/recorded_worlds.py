# SPDX-License-Identifier: BSD-3-Clause
"""Groups and bytes of real frameworks' worlds, emulated by one process."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from ai.megatron_core import WHEELS
from ai.recorder import (
    RANKS,
    count,
    count_inter_node_bytes,
    measure,
    play_world,
    record_job,
    recorder_table,
    torchrun,
)
from topoloom.frameworks.framework_jobs import parse_framework
from topoloom.frameworks.megatron import MegatronJob
from topoloom.frameworks.pytorch.process_notes import read_notes
from topoloom.frameworks.pytorch.recorded_job import (
    emulate_ranks,
    read_recording,
    run_job,
)
from topoloom.graphs.axes import Traffic
from topoloom.graphs.layouts import layout_graph

HERE = Path(__file__).parent
#: release 0.8 requires more than PyTorch
RELEASES = ("0.12.3", "0.16.1")
SIZES = {"tp": 4, "cp": 2, "dp": 16, "pp": 8, "ep": 8, "etp": 2}
#: its default
ORDER = "tp-cp-ep-dp-pp"
#: Bytes that a rank sends along each axis, large enough for rings.
SENT = {
    "tp": 3 << 22,
    "cp": 1 << 22,
    "dp": 15 << 20,
    "ep": 7 << 21,
    "edp": 7 << 20,
    "pp": 1 << 20,
}


class Megatron(NamedTuple):
    """A world of Megatron's own groups compared with `topoloom ai axes`.

    Attributes
    ----------
    played
        Number of emulated ranks.
    groups, found
        Groups of single and combined axes, and how many of them Megatron made.
    others
        Further groups of Megatron: of first and last stages, and of all ranks.
    pairs, differ
        Communicating pairs of ranks, and pairs whose bytes differ.
    """

    release: str
    ranks: int
    played: int
    groups: int
    found: int
    others: int
    pairs: int
    differ: int
    losses: list[str]


class TrainingRun(NamedTuple):
    """Training calls that differ between a real gloo rank and an emulated rank."""

    calls: int
    bytes: int
    differ: list[str]
    losses: list[str]


def play_megatron(python: Path, release: str) -> Megatron:
    """Emulate ranks of the first stage, of the last stage, and of a stage between."""
    (wheel,) = WHEELS.glob(f"megatron_core-{release}-*.whl")
    job = MegatronJob(**SIZES, release=parse_framework(f"megatron-{release}").release)
    sizes = {
        "tensor_model_parallel_size": job.tp,
        "pipeline_model_parallel_size": job.pp,
        "context_parallel_size": job.cp,
        "expert_model_parallel_size": job.ep,
        "expert_tensor_parallel_size": job.etp,
    }
    stage = job.ranks // job.pp
    ranks = [0, stage, job.ranks - stage]
    script = str(HERE / "megatron_job.py")
    command = [str(python), script, str(wheel), json.dumps(sizes), json.dumps(SENT)]
    with tempfile.TemporaryDirectory() as name:
        named = ",".join(map(str, ranks))
        done = emulate_ranks(command, job.ranks, named, name, stdout=sys.stderr)
        assert done.status == 0
        made = set(read_notes(Path(name))[0].groups)
        trace = read_recording(name)
    layout = job.layout(ORDER)
    spanned = ("tp-cp", "dp-cp", "tp-pp", "tp-dp-cp", "etp-ep", "etp-ep-pp")
    ours = {
        tuple(group)
        for axes in (*SENT, "etp", *spanned)
        for group in layout.groups(*axes.split("-")).tolist()
    }
    traffic = [
        Traffic((axis,), "chain" if axis == "pp" else "ring", size)
        for axis, size in SENT.items()
    ]
    expected = count_inter_node_bytes(layout_graph(layout, traffic)[0])
    found = count_inter_node_bytes(trace.profile().graph())
    differ = sum(found[pair] != expected[pair] for pair in found | expected)
    counts = len(ours), len(ours & made), len(made - ours)
    return Megatron(
        release, job.ranks, len(ranks), *counts, len(expected), differ, trace.losses
    )


def compare_training(python: Path, ranks: int = RANKS) -> TrainingRun:
    """Train on gloo ranks, then emulate one of them."""
    traces = []
    script = HERE / "training_job.py"
    for command, is_played in (
        (torchrun(python, ranks, script.name), False),
        ([str(python), str(script)], True),
    ):
        with tempfile.TemporaryDirectory() as name:
            if is_played:
                done = emulate_ranks(command, ranks, "0", name, stdout=sys.stderr)
            else:
                done = run_job(command, name, stdout=sys.stderr)
            assert done.status == 0
            traces.append(read_recording(name))
    real, played = (count(trace.profile()) for trace in traces)
    differ = sorted(key for key in real | played if real[key] != played[key])
    bytes = sum(json.loads(key)[2] * calls for key, calls in real.items())
    losses = [loss for trace in traces for loss in trace.losses]
    return TrainingRun(real.total(), bytes, differ, losses)


def record_all(python: Path) -> str:
    """Run all measurements of the recorder; return Markdown."""
    trained = compare_training(python)
    rows = [
        f"| FSDP2 and DDP with 7 communication hooks on {RANKS} gloo ranks, and one of "
        f"them played | {trained.calls} calls, {trained.bytes:,} bytes, "
        f"{len(trained.differ)} differ | 0 differ |"
    ]
    losses = trained.losses
    for release in RELEASES:
        one = play_megatron(python, release)
        rows.append(
            f"| Megatron-Core {one.release}, {one.ranks:,} ranks by its own "
            f"`parallel_state`, {one.played} of them played | {one.found:,} of "
            f"{one.groups:,} groups of the axes, {one.others} others; {one.pairs:,} "
            f"pairs, {one.differ} differ | all, 0 differ |"
        )
        losses += one.losses
    jobs = record_job(python), play_world(python), measure(python)
    return recorder_table(*jobs, rows, losses)
