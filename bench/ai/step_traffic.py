# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of one layer of Megatron-Core, recorded and as `--train` counts it."""

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
    """A layer, and the tp ranks that split it."""

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
    bytes: float
    counted: int


def _make_model(heads: int, kv_heads: int, size: int = 8) -> Model:
    return Model(1, heads * size, heads, kv_heads, size, 4 * heads * size)


CASES = [
    *(
        LayerCase(release, tp, _make_model(16, kv_heads))
        for release in ("0.12.3", "0.16.1")
        for tp, kv_heads in ((2, 2), (4, 16))
    ),
    # Ranks share a head of keys and values.
    LayerCase("0.16.1", 4, _make_model(16, 2)),
    LayerCase("0.16.1", 8, _make_model(8, 4)),
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
        calls, bytes = count_sent(read_recording(notes).profile())
    job = MegatronJob(
        tp=case.tp, dp=2, release=parse_framework(f"megatron-{case.release}").release
    )
    traffic = TrainingStep(case.model, SEQUENCE, 1).traffic(job)
    (counted,) = (one.bytes for one in traffic if one.axes == ("tp",))
    return RecordedLayer(
        case, calls["allgather"], calls["reduce_scatter"], bytes, counted
    )


def count_sent(profile: Profile) -> tuple[Counter[str], float]:
    """Count the collectives of rank 0, and the bytes that it sends in rings."""
    calls: Counter[str] = Counter()
    sent = 0.0
    for _, operation, group, _, size, times in profile.records.tolist():
        members = profile.communicators[group]
        if 0 not in members:
            continue
        name, others = OPERATIONS[operation], len(members) - 1
        share = {"allgather": others, "reduce_scatter": others / len(members)}[name]
        calls[name] += times
        sent += share * size * times
    return calls, sent


def layer_table(rows: Sequence[RecordedLayer]) -> str:
    """Format the comparison as Markdown."""
    lines = [
        "| Megatron-Core | tp | heads, of keys | gathers | scatters | sent | ours |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in rows:
        model = one.case.model
        lines.append(
            f"| {one.case.release} | {one.case.tp} | {model.heads}, {model.kv_heads} | "
            f"{one.gathers} | {one.scatters} | {one.bytes:,.0f} | {one.counted:,} |"
        )
    return "\n".join(lines) + "\n"
