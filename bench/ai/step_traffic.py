# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of small models of Megatron-Core, recorded and as `--train` counts it."""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from ai.megatron_core import WHEELS
from topoloom.frameworks.framework_jobs import parse_framework
from topoloom.frameworks.megatron import MegatronJob
from topoloom.frameworks.pytorch.recorded_job import emulate_ranks, read_recording
from topoloom.frameworks.training_step import TrainingStep
from topoloom.frameworks.transformer_model import Model
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import Profile

HERE = Path(__file__).parent
SEQUENCE = 32


class LayerCase(NamedTuple):
    """A model of one layer, and the tp ranks that split it."""

    release: str
    tp: int
    model: Model


class RecordedLayer(NamedTuple):
    """Collectives of a rank in the tp group, and bytes that it sends.

    `counted` are the bytes that our model counts.
    """

    case: LayerCase
    gathers: int
    scatters: int
    allreduces: int
    bytes: float
    counted: int


def _make_model(heads: int, kv_heads: int, size: int = 8, **more: int) -> Model:
    hidden = heads * size
    return Model(1, hidden, heads, kv_heads, size, 4 * hidden, vocabulary=1024, **more)


_EXPERTS = {"experts": 4, "active": 2}
_LATENT = {"kv_rank": 24, "rope_size": 4, "value_size": 12}

CASES = [
    *(
        LayerCase(release, tp, _make_model(16, kv_heads))
        for release in ("0.12.3", "0.16.1")
        for tp, kv_heads in ((2, 2), (4, 16))
    ),
    # Ranks share a head of keys and values.
    LayerCase("0.16.1", 4, _make_model(16, 2)),
    LayerCase("0.16.1", 8, _make_model(8, 4)),
    *(
        LayerCase(release, 4, _make_model(16, 16, **more))
        for release in ("0.12.3", "0.16.1")
        for more in (
            _EXPERTS,
            {**_EXPERTS, "shared": 96},
            {**_LATENT, "q_rank": 40},
            _LATENT,
        )
    ),
]


def record_layer(python: Path, case: LayerCase) -> RecordedLayer:
    """Run the layer in one process of a fake world of two tp groups."""
    (wheel,) = WHEELS.glob(f"megatron_core-{case.release}-*.whl")
    sizes = {**asdict(case.model), "sequence": SEQUENCE}
    with tempfile.TemporaryDirectory() as name:
        code, notes = Path(name, "code"), Path(name, "notes")
        with zipfile.ZipFile(wheel) as files:
            files.extractall(code)
        notes.mkdir()
        script = [str(python), "-W", "ignore", str(HERE / "layer_job.py"), str(code)]
        command = [*script, str(case.tp), json.dumps(sizes)]
        ranks = 2 * case.tp
        done = emulate_ranks(command, ranks, "0", str(notes), stdout=sys.stderr)
        assert done.status == 0
        calls, bytes = count_sent(read_recording(notes).profile(), case.tp)
    job = MegatronJob(
        tp=case.tp, dp=2, release=parse_framework(f"megatron-{case.release}").release
    )
    traffic = TrainingStep(case.model, SEQUENCE, 1).traffic(job)
    (counted,) = (one.bytes for one in traffic if one.axes == ("tp",))
    # The recording ends before the step's sum of gradients over tp.
    ends = 2 * 4 * case.model.latent_weights * (case.tp - 1) // case.tp
    names = ("allgather", "reduce_scatter", "allreduce")
    gathers, scatters, allreduces = (calls[one] for one in names)
    counted -= ends
    return RecordedLayer(case, gathers, scatters, allreduces, bytes, counted)


def count_sent(profile: Profile, tp: int) -> tuple[Counter[str], float]:
    """Count the collectives of the first tp group, and the bytes that rank 0 sends."""
    calls: Counter[str] = Counter()
    sent = 0.0
    for _, operation, group, _, size, times in profile.records.tolist():
        members = profile.communicators[group]
        if list(members) != list(range(tp)):
            continue
        name, others = OPERATIONS[operation], len(members) - 1
        share = {
            "allgather": others,
            "reduce_scatter": others / len(members),
            "allreduce": 2 * others / len(members),
        }[name]
        calls[name] += times
        sent += share * size * times
    return calls, sent


def layer_table(rows: Sequence[RecordedLayer]) -> str:
    """Format the comparison as Markdown."""
    lines = [
        "| release | tp | layer | gathers | scatters | allreduces | sent | ours |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {one.case.release} | {one.case.tp} | {_describe(one.case.model)} | "
        f"{one.gathers} | {one.scatters} | {one.allreduces} | {one.bytes:,.0f} | "
        f"{one.counted:,} |"
        for one in rows
    ]
    return "\n".join(lines) + "\n"


def _describe(model: Model) -> str:
    text = f"{model.heads} heads, {model.kv_heads} of keys"
    if model.kv_rank:
        text = f"{model.heads} heads, latent {model.q_rank or 'none'}, {model.kv_rank}"
    if model.experts > 1:
        text += f", {model.experts} experts"
    return text + (", shared ones" if model.shared else "")
