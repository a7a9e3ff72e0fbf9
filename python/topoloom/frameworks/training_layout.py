# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of a training job: sizes of the axes, micro-batches, recomputation.

The rules are those of Megatron-Core with the distributed optimizer, sequence
parallelism and the default order of axes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from topoloom._core import Error
from topoloom.frameworks.megatron import MegatronJob
from topoloom.frameworks.traffic_rules import find_traffic_rules
from topoloom.frameworks.training_step import TrainingStep
from topoloom.frameworks.transformer_traffic import count_traffic
from topoloom.graphs.axes import Traffic
from topoloom.support.name_lookup import describe_unknown_name


@dataclass(frozen=True)
class TrainingLayout:
    """How a training job is divided over its ranks.

    Attributes
    ----------
    tp, cp, pp, dp
        Sizes of the axes whose product is the number of ranks.
    vpp
        Parts of the model per pipeline stage; 1 without an interleaved schedule.
    ep, etp
        Ranks that share the experts of a layer, and that each expert is split over.
    micro
        Sequences per micro-batch.
    recompute
        Whether the backward pass recomputes every layer from its input.
    """

    tp: int = 1
    cp: int = 1
    pp: int = 1
    vpp: int = 1
    ep: int = 1
    etp: int = 1
    dp: int = 1
    micro: int = 1
    recompute: bool = False

    @property
    def job(self) -> MegatronJob:
        """The job of Megatron-Core; raises `topoloom.Error` if it cannot exist."""
        return MegatronJob(self.tp, self.cp, self.dp, self.pp, self.ep, self.etp)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.tp * self.cp * self.pp * self.dp

    @property
    def text(self) -> str:
        """The layout in the format of `parse_layout`, without sizes of 1."""
        sizes = [
            f"{field.name}={getattr(self, field.name)}"
            for field in fields(self)
            if field.name != "recompute" and getattr(self, field.name) > 1
        ]
        return ",".join([*sizes, *(["recompute=full"] if self.recompute else [])])

    def count_stage_layers(self, layers: int) -> int:
        """Count the layers of the largest pipeline stage; the last may have fewer."""
        return -(-layers // self.pp)

    def count_micro_batches(self, batch: int) -> int:
        """Count the micro-batches per rank of a step of `batch` sequences."""
        return batch // (self.dp * self.micro)

    def bubble(self, batch: int) -> float:
        """Compute the idle time of a stage, as a share of its computation.

        Narayanan et al., SC 2021: (p - 1) / (v m).
        """
        return (self.pp - 1) / (self.vpp * self.count_micro_batches(batch))


class LayoutStep(NamedTuple):
    """A training step with a global batch, which may run in any layout.

    Attributes
    ----------
    step
        The model and its sequences; the number of micro-batches is not used.
    batch
        Sequences per step, over all ranks.
    """

    step: TrainingStep
    batch: int

    def check(self, layout: TrainingLayout) -> None:
        """Raise `topoloom.Error` if Megatron-Core cannot run the layout."""
        model, sequence = self.step.model, self.step.sequence
        self.step.check(layout.job)
        if self.batch % (layout.dp * layout.micro):
            raise Error(
                f"dp x micro = {layout.dp * layout.micro} does not divide the batch of "
                f"{self.batch} sequences"
            )
        if layout.cp > 1 and sequence % (2 * layout.cp):
            raise Error(
                f"2 x cp = {2 * layout.cp} does not divide the sequence of {sequence} "
                "tokens"
            )
        if sequence // layout.cp % layout.tp:
            raise Error(
                f"tp is {layout.tp}, which does not divide the {sequence // layout.cp} "
                "tokens of a sequence on a rank"
            )
        if model.experts % layout.ep:
            raise Error(
                f"ep is {layout.ep}, which does not divide the {model.experts} experts "
                "of a layer"
            )
        self._check_stages(layout)

    def count_traffic(self, layout: TrainingLayout) -> list[Traffic]:
        """Compute a rank's traffic per step; all stages count as the largest."""
        model, job = self.step.model, layout.job
        largest = layout.count_stage_layers(model.layers) * layout.pp
        rules = find_traffic_rules(job)
        rules = replace(
            rules,
            types=rules.types._replace(**self.step.types),
            repeats_forward=layout.recompute,
            chunks=layout.vpp,
        )
        return count_traffic(
            replace(model, layers=largest),
            job.axes,
            self.step.sequence * layout.micro,
            layout.count_micro_batches(self.batch),
            rules,
            self.step.exchange,
        )

    def _check_stages(self, layout: TrainingLayout) -> None:
        layers, pp = self.step.model.layers, layout.pp
        micro_batches = layout.count_micro_batches(self.batch)
        if layout.vpp == 1:
            if layout.count_stage_layers(layers) * (pp - 1) >= layers:
                raise Error(
                    f"pp is {pp}, which leaves the last stage none of the {layers} "
                    "layers"
                )
        elif pp == 1:
            raise Error(f"vpp is {layout.vpp}, which requires stages; add pp")
        elif layers % (pp * layout.vpp):
            raise Error(
                f"pp x vpp = {pp * layout.vpp} does not divide the {layers} layers"
            )
        elif micro_batches % pp:
            raise Error(
                f"vpp is {layout.vpp}, which requires that pp = {pp} divides the "
                f"{micro_batches} micro-batches per rank"
            )


def parse_layout(text: str, ranks: int) -> TrainingLayout:
    """Parse ``tp=8,pp=4,vpp=2,micro=2,recompute=full``; dp is the rest of the ranks.

    Raises
    ------
    topoloom.Error
        If a word is unknown, or the product of the axes is not `ranks`.
    """
    names = [field.name for field in fields(TrainingLayout)]
    sizes: dict[str, int] = {}
    recompute = False
    for word in text.split(","):
        key, _, value = word.strip().partition("=")
        if key not in names:
            raise Error(describe_unknown_name("size of a layout", key, names))
        if key == "recompute":
            if value not in ("full", "none"):
                raise Error(f"recompute must be full or none, not '{value}'")
            recompute = value == "full"
        elif not re.fullmatch("[1-9][0-9]{0,6}", value):
            raise Error(f"{key} must be an integer of 1 or more, not '{value}'")
        elif key in sizes:
            raise Error(f"layout '{text}' gives {key} twice")
        else:
            sizes[key] = int(value)
    layout = TrainingLayout(**sizes, recompute=recompute)
    if "dp" not in sizes and ranks % layout.ranks == 0:
        layout = replace(layout, dp=ranks // layout.ranks)
    if layout.ranks != ranks:
        has = f"layout '{text}' has {layout.ranks} ranks"
        if "dp" in sizes:
            raise Error(f"{has}, expected {ranks}")
        raise Error(f"{has} per replica, expected a divisor of {ranks}")
    return layout
