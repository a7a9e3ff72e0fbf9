# SPDX-License-Identifier: BSD-3-Clause
"""Writes a layout as launch arguments of training frameworks.

Names are those of Megatron-LM (megatron-core 0.19.2, ``training/arguments.py``),
torchtitan (b5bcd76, ``config/configs.py``), DeepSpeed (edaa722, ``config-json.md``) and
MaxText (e591f30, ``configs/base.yml``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from topoloom._core import Error
from topoloom.frameworks.deepspeed import DeepSpeedJob
from topoloom.frameworks.training_layout import LayoutStep, TrainingLayout
from topoloom.support.name_lookup import describe_unknown_name

#: Frameworks whose arguments are known.
LAUNCHED_FRAMEWORKS = ("megatron", "torchtitan", "deepspeed", "maxtext")


class LaunchArguments(NamedTuple):
    """What makes a framework use a layout.

    Attributes
    ----------
    lines
        Arguments of the command, or lines of the configuration file.
    code
        Python expressions for what these cannot express.
    """

    lines: list[str]
    code: Sequence[str] = ()


def write_launch_arguments(
    framework: str, step: LayoutStep, layout: TrainingLayout, domain: int
) -> LaunchArguments:
    """Write the arguments that make a framework use the layout.

    Parameters
    ----------
    framework
        One of `LAUNCHED_FRAMEWORKS`.
    domain
        Consecutive ranks with fast links, such as those of an NVLink domain.

    Raises
    ------
    topoloom.Error
        If the framework is unknown, or has no such layout.
    """
    if framework == "megatron":
        return LaunchArguments(_write_megatron(step, layout))
    if framework == "torchtitan":
        return LaunchArguments(_write_torchtitan(step, layout))
    if framework == "deepspeed":
        return _write_deepspeed(step, layout)
    if framework == "maxtext":
        return LaunchArguments(_write_maxtext(step, layout, domain))
    raise Error(describe_unknown_name("framework", framework, LAUNCHED_FRAMEWORKS))


def _write_megatron(step: LayoutStep, layout: TrainingLayout) -> list[str]:
    model = step.step.model
    flags = {
        "tensor-model-parallel-size": layout.tp,
        "context-parallel-size": layout.cp,
        "pipeline-model-parallel-size": layout.pp,
        "seq-length": step.step.sequence,
        "micro-batch-size": layout.micro,
        "global-batch-size": step.batch,
    }
    if layout.vpp > 1:
        flags["num-virtual-stages-per-pipeline-rank"] = layout.vpp
    if model.layers % layout.pp:
        flags["decoder-last-pipeline-num-layers"] = _count_last_layers(step, layout)
    if model.experts > 1:
        flags["expert-model-parallel-size"] = layout.ep
        flags["expert-tensor-parallel-size"] = layout.etp
    lines = [f"--{name} {value}" for name, value in flags.items()]
    lines += ["--bf16", *(["--sequence-parallel"] if layout.tp > 1 else [])]
    lines += ["--use-distributed-optimizer"]
    lines += ["--overlap-grad-reduce", "--overlap-param-gather"]
    if layout.recompute:
        lines += ["--recompute-granularity full", "--recompute-method uniform"]
        lines += ["--recompute-num-layers 1"]
    return lines


def _write_torchtitan(step: LayoutStep, layout: TrainingLayout) -> list[str]:
    model, sequence = step.step.model, step.step.sequence
    _refuse_expert_parts(layout, "torchtitan")
    training = {
        "max_context_length": sequence,
        "num_tokens_per_microbatch_per_dp_rank": layout.micro * sequence,
        "num_tokens_per_train_step": step.batch * sequence,
    }
    axes: dict[str, int | str] = {
        "tensor_parallel_degree": layout.tp,
        "context_parallel_degree": layout.cp,
        "pipeline_parallel_degree": layout.pp,
        "data_parallel_shard_degree": layout.dp,
        "expert_parallel_degree": layout.ep,
    }
    if layout.pp > 1:
        largest = layout.count_stage_layers(model.layers)
        axes |= {
            "pipeline_parallel_schedule": "Interleaved1F1B"
            if layout.vpp > 1
            else "1F1B",
            "pipeline_parallel_layers_per_stage": largest // layout.vpp,
            "pipeline_parallel_first_stage_less_layers": 0,
            "pipeline_parallel_last_stage_less_layers": largest * layout.pp
            - model.layers,
            "num_pp_microbatches": layout.count_micro_batches(step.batch),
        }
    lines = [f"--parallelism.{name} {value}" for name, value in axes.items()]
    lines += [f"--training.{name} {value}" for name, value in training.items()]
    return [*lines, f"activation-checkpoint:{'full' if layout.recompute else 'none'}"]


def _write_deepspeed(step: LayoutStep, layout: TrainingLayout) -> LaunchArguments:
    """Write the configuration file, and the code that makes the pipeline."""
    if layout.cp > 1:
        raise Error(
            f"cp is {layout.cp}, but DeepSpeed has no ring attention; compare layouts "
            "without cp"
        )
    if layout.vpp > 1:
        raise Error(
            f"vpp is {layout.vpp}, but DeepSpeed does not interleave stages; compare "
            "layouts without vpp"
        )
    _refuse_expert_parts(layout, "DeepSpeed")
    job = DeepSpeedJob(layout.tp, layout.dp, layout.pp, layout.ep)
    settings: dict[str, object] = {
        "train_batch_size": step.batch,
        "train_micro_batch_size_per_gpu": layout.micro,
        "gradient_accumulation_steps": layout.count_micro_batches(step.batch),
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": 1},
    }
    if layout.tp > 1 and layout.pp == 1:
        settings["tensor_parallel"] = {"autotp_size": layout.tp}
    code = [
        line for line in job.settings(job.layouts()[0].name) if not line.startswith('"')
    ]
    if layout.recompute and layout.pp > 1:
        code[0] = f"{code[0].removesuffix(')')}, activation_checkpoint_interval=1)"
    elif layout.recompute:
        code.append("model.gradient_checkpointing_enable()")
    return LaunchArguments(json.dumps(settings, indent=2).splitlines(), code)


def _write_maxtext(step: LayoutStep, layout: TrainingLayout, domain: int) -> list[str]:
    model = step.step.model
    if layout.dp % layout.ep or (model.experts > 1 and layout.etp != layout.tp):
        raise Error(
            f"ep is {layout.ep} and etp {layout.etp}, but MaxText distributes experts "
            f"over replicas, dp = {layout.dp}, and splits them over tp = {layout.tp}"
        )
    if model.layers % layout.pp:
        raise Error(
            f"pp is {layout.pp}, but MaxText requires a divisor of the "
            f"{model.layers} layers"
        )
    micro_batches = layout.count_micro_batches(step.batch)
    if layout.pp > 1 and micro_batches % layout.pp:
        raise Error(
            f"pp is {layout.pp}, but MaxText requires a divisor of the "
            f"{micro_batches} micro-batches"
        )
    lines, left = [], domain
    for name, size in (
        ("tensor", layout.tp),
        ("context", layout.cp),
        ("expert", layout.ep),
        ("data", layout.dp // layout.ep),
        ("pipeline", layout.pp),
    ):
        near = gcd(size, left)
        left //= near
        lines.append(f"ici_{name}_parallelism={near}")
        lines.append(f"dcn_{name}_parallelism={size // near}")
    lines += ["ici_fsdp_parallelism=1", "shard_optimizer_over_data=true"]
    if layout.cp > 1:
        lines.append("context_parallel_strategy=ring")
    accumulated = micro_batches
    if layout.pp > 1:
        layers = model.layers // (layout.pp * layout.vpp)
        lines.append(f"num_layers_per_pipeline_stage={layers}")
        lines.append(f"num_pipeline_microbatches={micro_batches}")
        accumulated = 1
    lines.append(f"gradient_accumulation_steps={accumulated}")
    per_device = step.batch / (layout.ranks * accumulated)
    lines.append(f"per_device_batch_size={per_device:g}")
    lines.append(f"max_target_length={step.step.sequence}")
    policy = "full" if layout.recompute else "minimal_with_context"
    return [*lines, f"remat_policy={policy}"]


def _count_last_layers(step: LayoutStep, layout: TrainingLayout) -> int:
    largest = layout.count_stage_layers(step.step.model.layers)
    return step.step.model.layers - largest * (layout.pp - 1)


def _refuse_expert_parts(layout: TrainingLayout, framework: str) -> None:
    if layout.etp > 1:
        raise Error(
            f"etp is {layout.etp}, but {framework} does not split experts; use etp=1"
        )
