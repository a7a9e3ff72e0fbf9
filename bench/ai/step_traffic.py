# SPDX-License-Identifier: BSD-3-Clause
"""Traffic and memory of small models of Megatron-Core, measured and as we count."""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from ai.megatron_core import WHEELS
from topoloom.frameworks.framework_jobs import parse_framework
from topoloom.frameworks.layout_memory import count_memory
from topoloom.frameworks.megatron import MegatronJob
from topoloom.frameworks.pytorch.recorded_job import emulate_ranks, read_recording
from topoloom.frameworks.training_layout import LayoutStep, TrainingLayout
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

    `counted` are the bytes that our model counts. `saved` and `counted_saved` are those
    that a rank's feed-forward network saves for its backward pass, without its input;
    not for experts.
    """

    case: LayerCase
    gathers: int
    scatters: int
    allreduces: int
    bytes: float
    counted: int
    saved: int
    counted_saved: int


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


def draw_cases(count: int, seed: int) -> list[LayerCase]:
    """Draw layers that Megatron-Core accepts, a third of them with experts."""
    random = Random(seed)
    cases = []
    for _ in range(count):
        release, tp = random.choice(("0.12.3", "0.16.1")), random.choice((2, 4, 8))
        heads = tp * random.choice((1, 2, 3, 4))
        # From 0.16 on, tp ranks share a head of keys and values.
        splits = release == "0.16.1"
        kv_heads = random.choice(
            [
                kv
                for kv in range(1, heads + 1)
                if heads % kv == 0 and (kv % tp == 0 or (splits and tp % kv == 0))
            ]
        )
        more = random.choice(({}, {}, {**_EXPERTS, "shared": random.choice((0, 96))}))
        # A group of 2 along tp has the ranks of one along ep, and its calls, too.
        if tp == 2:
            more = {}
        model = _make_model(heads, kv_heads, random.choice((8, 16)), **more)
        model = replace(model, ffn=model.hidden * random.choice((2, 3, 4)))
        cases.append(LayerCase(release, tp, model))
    return cases


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
        saved = Path(name, "saved")
        command = [*script, str(case.tp), json.dumps(sizes), str(saved)]
        ranks = 2 * case.tp
        done = emulate_ranks(command, ranks, "0", str(notes), stdout=sys.stderr)
        assert done.status == 0
        calls, bytes = count_sent(read_recording(notes).profile(), case.tp)
        saved_bytes = int(saved.read_text())
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
    traffic_of_tp = (gathers, scatters, allreduces, bytes, counted)
    return RecordedLayer(case, *traffic_of_tp, saved_bytes, count_saved(case))


def count_saved(case: LayerCase) -> int:
    """Count what the network of a rank saves, as the memory of a layout does."""

    def count(model: Model) -> float:
        step = LayoutStep(TrainingStep(model, SEQUENCE, 1), 1)
        return count_memory(step, TrainingLayout(tp=case.tp)).activations

    return round(count(case.model) - count(replace(case.model, ffn=0)))


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
        "| Megatron-Core | tp | layer | gathers | scatters | allreduces | sent | ours "
        "| saved | ours |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {one.case.release} | {one.case.tp} | {_describe(one.case.model)} | "
        f"{one.gathers} | {one.scatters} | {one.allreduces} | {one.bytes:,.0f} | "
        f"{one.counted:,} | {_format_saved(one)} |"
        for one in rows
    ]
    return "\n".join(lines) + "\n"


def drawn_table(rows: Sequence[RecordedLayer]) -> str:
    """Format the number of drawn layers whose bytes are as we count them."""
    lines = [
        "| drawn layers | tp | layers | sent as ours | saved as ours |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for kind, has_experts in (("without experts", False), ("with experts", True)):
        found = [one for one in rows if (one.case.model.experts > 1) == has_experts]
        sizes = ", ".join(map(str, sorted({one.case.tp for one in found})))
        sent = sum(one.bytes == one.counted for one in found)
        saved = sum(one.saved == one.counted_saved for one in found)
        last = "" if has_experts else saved
        lines.append(f"| {kind} | {sizes} | {len(found)} | {sent} | {last} |")
    return "\n".join(lines) + "\n"


def _format_saved(one: RecordedLayer) -> str:
    if one.case.model.experts > 1:
        return " | "
    return f"{one.saved:,} | {one.counted_saved:,}"


def _describe(model: Model) -> str:
    text = f"{model.heads} heads, {model.kv_heads} of keys"
    if model.kv_rank:
        text = f"{model.heads} heads, latent {model.q_rank or 'none'}, {model.kv_rank}"
    if model.experts > 1:
        text += f", {model.experts} experts"
    return text + (", shared ones" if model.shared else "")
