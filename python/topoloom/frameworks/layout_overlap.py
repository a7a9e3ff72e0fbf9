# SPDX-License-Identifier: BSD-3-Clause
"""What part of a layout's communication the schedule can hide behind computation.

The schedule is that of Megatron-Core with ``--overlap-grad-reduce`` and
``--overlap-param-gather``. Whether the computation is long enough is not known here.

- Tensor and expert parallelism: nothing; the next operation needs the result.
- Context parallelism: everything; a rank receives the next keys and values while it
  computes with the previous ones, its own first.
- Pipelines: nothing with 1F1B, which waits for a neighbor; if stages are interleaved,
  the sends of all chunks but those of the first stage's warm-up
  (``core/pipeline_parallel/schedules.py``).
- Gradients and weights: all buckets but one. The gradients of the first layers are
  ready only at the end, their weights are needed at once
  (``core/distributed/distributed_data_parallel.py``).
"""

from __future__ import annotations

from topoloom.frameworks.layout_memory import count_rank_weights
from topoloom.frameworks.traffic_rules import find_traffic_rules
from topoloom.frameworks.training_layout import LayoutStep, TrainingLayout
from topoloom.graphs.axes import Traffic


def find_hideable_share(
    step: LayoutStep, layout: TrainingLayout, traffic: Traffic
) -> float:
    """Compute the share of an entry of the traffic that the schedule can hide."""
    if traffic.axes == ("pp",):
        return _find_steady_share(step, layout)
    if traffic.axes == ("cp",) and layout.dp > 1:
        return 1.0
    if traffic.axes[-1] in ("cp", "dp", "edp"):
        # Without dp, what ring attention sends along cp is in the same entry.
        return max(0.0, 1 - _count_last_bucket(step, layout, traffic) / traffic.bytes)
    return 0.0


def _count_last_bucket(
    step: LayoutStep, layout: TrainingLayout, traffic: Traffic
) -> float:
    """Count the bytes of a rank's gradients and weights that are in one bucket."""
    weights, experts = count_rank_weights(step.step.model, layout)
    replicas = layout.cp * layout.dp
    if traffic.axes[-1] == "edp":
        weights, replicas = experts, layout.job.axes["edp"]
    bucket = min(weights, max(40_000_000, 1_000_000 * replicas))
    types = find_traffic_rules(layout.job).types._replace(**step.step.types)
    bytes = types.gradient_bytes + types.parameter_bytes
    return bytes * bucket * (replicas - 1) / replicas


def _find_steady_share(step: LayoutStep, layout: TrainingLayout) -> float:
    """Compute the share of forward passes of chunks after the first stage's warm-up."""
    if layout.vpp == 1:
        return 0.0
    passes = layout.vpp * layout.count_micro_batches(step.batch)
    warm_up = 2 * (layout.pp - 1) + (layout.vpp - 1) * layout.pp
    return max(0.0, 1 - warm_up / passes)
