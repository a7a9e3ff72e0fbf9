# SPDX-License-Identifier: BSD-3-Clause
"""What each training framework sends in a step: collectives and data types.

The numbers of Megatron, torchtitan and DeepSpeed follow from their code; those of JAX
and of fp8 are assumptions. ``bench/ai/step_traffic.py`` records small models of
Megatron-Core and compares the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from topoloom.frameworks.job import Job

#: Bytes per element of the data types.
ELEMENT_BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}


class DataTypes(NamedTuple):
    """Data types of what a step sends, by the names of `ELEMENT_BYTES`.

    Attributes
    ----------
    parameters
        Type in which replicas or shards gather the weights.
    gradients
        Type in which replicas or shards reduce the gradients.
    activations
        Type of activations. With fp8, only tensors that are gathered for a matrix
        product have this type; sums, keys and values, tokens of experts and pipeline
        stages have 2 bytes per element. For tokens see `ExpertExchange`.
    """

    parameters: str = "bf16"
    gradients: str = "bf16"
    activations: str = "bf16"

    @property
    def parameter_bytes(self) -> int:
        """Bytes per weight when weights are gathered."""
        return ELEMENT_BYTES[self.parameters]

    @property
    def gradient_bytes(self) -> int:
        """Bytes per weight when gradients are reduced."""
        return ELEMENT_BYTES[self.gradients]

    @property
    def activation_bytes(self) -> int:
        """Bytes per element of activations, except those that are gathered."""
        return max(2, self.gathered_bytes)

    @property
    def gathered_bytes(self) -> int:
        """Bytes per element of activations that tensor parallelism gathers."""
        return ELEMENT_BYTES[self.activations]


class LayerCollectives(NamedTuple):
    """Collectives of tensor parallelism in a part of a layer, forward and backward.

    An allreduce counts as one gather and one scatter.
    """

    gathers: int
    scatters: int

    def add(self, other: LayerCollectives) -> LayerCollectives:
        """Return the collectives of both."""
        return LayerCollectives(
            self.gathers + other.gathers, self.scatters + other.scatters
        )


_ONE_OF_EACH = LayerCollectives(1, 1)


@dataclass(frozen=True)
class TrafficRules:
    """How a framework communicates in a training step.

    Attributes
    ----------
    types
        The framework's default data types.
    attention, feed_forward
        Collectives of tensor parallelism in each part of a layer.
    embedding, output
        Those of embeddings and of the output layer; None if they are not split.
    splits_latent
        Whether only latent elements of queries, keys and values are gathered.
    gradient_passes
        Times that a gradient crosses the network: 1 for a reduce_scatter, 2 for an
        allreduce.
    shards_per_batch
        Whether every micro-batch gathers the weights, forward and backward, and reduces
        the gradients; otherwise a step does so once.
    gathers_split_heads
        Whether tp ranks that share a head of keys gather queries, keys and values.
    repeats_forward
        Whether the backward pass of every layer repeats its forward pass, with its
        collectives.
    chunks
        Parts of the model per pipeline stage; more than 1 if stages are interleaved.
    """

    types: DataTypes
    attention: LayerCollectives
    feed_forward: LayerCollectives
    embedding: LayerCollectives | None = _ONE_OF_EACH
    output: LayerCollectives | None = _ONE_OF_EACH
    splits_latent: bool = False
    gradient_passes: int = 1
    shards_per_batch: bool = True
    gathers_split_heads: bool = False
    repeats_forward: bool = False
    chunks: int = 1


#: GSPMD with sequence parallelism, and DTensor: the gathered input is kept for the
#: backward pass.
_MESH = TrafficRules(DataTypes(), LayerCollectives(2, 2), LayerCollectives(2, 2))

_RULES = {
    # tensor_parallel/layers.py: the backward pass gathers the input again. --bf16
    # reduces gradients in fp32 unless --grad-reduce-in-bf16.
    "megatron": TrafficRules(
        DataTypes(gradients="fp32"),
        LayerCollectives(3, 2),
        LayerCollectives(3, 2),
        output=LayerCollectives(2, 1),
        splits_latent=True,
        gathers_split_heads=True,
    ),
    # torchtitan: training.mixed_precision_reduce is float32.
    "fsdp": replace(_MESH, types=DataTypes(gradients="fp32")),
    # zero/stage_1_and_2.py: buckets are reduced by an allreduce.
    "deepspeed": replace(_MESH, gradient_passes=2),
}

#: module_inject/layers.py of DeepSpeed: every column-parallel matrix of a Hugging Face
#: model reduces the gradient of its input: query, key, value; gate, up.
_AUTO_TP = replace(
    _RULES["deepspeed"],
    attention=LayerCollectives(4, 4),
    feed_forward=LayerCollectives(3, 3),
    embedding=None,
    output=None,
)


def find_traffic_rules(job: Mapping[str, int] | Job) -> TrafficRules:
    """Return the rules of a framework's job, or of a mesh, as in JAX."""
    if isinstance(job, Mapping):
        return _MESH
    is_pipeline = job.axes["pp"] > 1
    if job.framework == "deepspeed" and not is_pipeline:
        return _AUTO_TP
    rules = _RULES[job.framework]
    if job.framework == "fsdp" and is_pipeline:
        # torch/distributed/pipelining/stage.py: weights stay gathered, and only the
        # last micro-batch reduces gradients.
        return replace(rules, shards_per_batch=False)
    return rules
