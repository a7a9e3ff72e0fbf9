# SPDX-License-Identifier: BSD-3-Clause
"""Documents of commands for AI models."""

from __future__ import annotations

from typing import Any

from typing_extensions import NotRequired, TypedDict


class AxisSeconds(TypedDict):
    """The time of a collective along axes."""

    axes: list[str]
    """The axes of the groups, the fastest first."""
    collective: str
    """The collective."""
    seconds: float
    """Predicted time in seconds."""


class AxisOrderFields(TypedDict):
    """An order of the axes."""

    order: str
    """The order, as the framework writes it."""
    back_and_forth: NotRequired[list[str]]
    """Axes along which ranks go back and forth; for a mesh."""
    seconds: float
    """Predicted time of all axes in seconds."""
    gain_percent: float | None
    """Reduction of the time relative to the default order, in percent."""
    traffic: list[AxisSeconds]
    """Time of each collective."""


class BestAxisOrder(AxisOrderFields):
    """The best order of the axes."""

    jax: NotRequired[list[Any]]
    """Device numbers in the shape of the mesh; for a mesh."""
    ranks: list[int]
    """Device of each rank."""


class AxisOperation(TypedDict):
    """A recorded operation along axes."""

    axes: list[str]
    """The axes of the groups."""
    name: str
    """The operation."""
    bytes: int
    """Bytes of the busiest group."""
    calls: int
    """Calls of the busiest group."""
    ranks: int
    """Ranks in all groups that call the operation."""


class AxisTraffic(TypedDict):
    """What a rank sends along axes."""

    axes: list[str]
    """The axes of the groups."""
    collective: str
    """The collective."""
    bytes: int
    """Bytes that a rank sends."""
    calls: int
    """Calls that share these bytes."""


class MeshDocument(TypedDict):
    """The mesh of a recorded job."""

    mesh: dict[str, int]
    """Sizes of the axes, the fastest first."""
    operations: list[AxisOperation]
    """Recorded operations along the axes."""
    traffic: list[AxisTraffic]
    """What a rank sends along the axes."""
    left_over: int
    """Bytes that cannot be assigned to axes."""


class AxesDocument(TypedDict):
    """Orders of the axes of a training job."""

    machine: str
    """The machine as text."""
    mesh: dict[str, int]
    """Sizes of the axes."""
    framework: NotRequired[str]
    """The framework; absent for a mesh."""
    settings: NotRequired[list[str]]
    """Settings of the framework for the chosen order; absent for a mesh."""
    default_seconds: NotRequired[float]
    """Predicted time of the framework's default in seconds; absent for a mesh."""
    other_variants: NotRequired[dict[str, float]]
    """Predicted seconds of other axis sizes; absent for a mesh."""
    times: str
    """`nccl`: by the time model of NCCL; or `line rates`."""
    allow_split_physical_axes: NotRequired[bool]
    """Whether the default requires this option of JAX; for a mesh."""
    default: AxisOrderFields
    """The default order."""
    named: AxisOrderFields
    """The best order that the framework, or a nested mesh, can name."""
    best: BestAxisOrder
    """The best order."""
    operations: NotRequired[list[AxisOperation]]
    """Recorded operations along the axes; for a recorded job."""
    traffic: NotRequired[list[AxisTraffic]]
    """What a rank sends along the axes; for a recorded job."""
    left_over: NotRequired[int]
    """Bytes that cannot be assigned to axes; for a recorded job."""


class LayoutMemoryFields(TypedDict):
    """Bytes on the GPU that needs most, by purpose."""

    weights: int
    """Weights."""
    gradients: int
    """Gradients."""
    optimizer: int
    """States of the optimizer, with its copy of the weights."""
    activations: int
    """Activations that the backward pass needs."""
    total: int
    """Sum."""


class LayoutSeconds(AxisSeconds):
    """The time of a collective along axes, and what the schedule can hide of it."""

    hideable_seconds: float
    """Part of the time that may overlap with computation, in seconds."""


class LayoutFields(TypedDict):
    """A layout of a training job."""

    layout: str
    """The layout as text."""
    sizes: dict[str, int]
    """Sizes of the axes, chunks per stage (`vpp`), sequences per micro-batch."""
    recompute: str
    """`full` if the backward pass recomputes every layer, else `none`."""
    micro_batches: int
    """Micro-batches per rank and step."""
    bubble: float
    """Idle time of a pipeline stage, as a share of its computation."""
    memory: LayoutMemoryFields
    """Bytes on the GPU that needs most."""
    seconds: float
    """Predicted time of all communication in a step, in seconds."""
    exposed_seconds: float
    """Part of the time that the schedule cannot hide, in seconds."""
    traffic: list[LayoutSeconds]
    """Time of each collective."""


class RefusedLayout(TypedDict):
    """A layout that needs more memory than a GPU has."""

    layout: str
    """The layout as text."""
    memory: LayoutMemoryFields
    """Bytes on the GPU that needs most."""


class LayoutsDocument(TypedDict):
    """Layouts of a training job, the one with the least communication first."""

    machine: str
    """The machine as text."""
    gpus: int
    """Number of GPUs."""
    gpu_memory: int
    """Memory limit of a GPU in bytes."""
    batch: int
    """Sequences per step."""
    sequence: int
    """Tokens per sequence."""
    times: str
    """`nccl`: by the time model of NCCL; or `line rates`."""
    layouts: list[LayoutFields]
    """Layouts that fit, the fastest first."""
    refused: list[RefusedLayout]
    """Named layouts that need more memory than a GPU has."""


class ReplacementFields(TypedDict):
    """The best spare for a lost host."""

    host: str
    """The lost host."""
    spare: str
    """The host that replaces it."""
    seconds: float
    """Predicted time of the job on the spare in seconds."""
    gain_percent: float | None
    """Reduction of the time relative to that before the loss, in percent."""
    order: list[str]
    """Hosts in the order of the ranks."""


class SparesDocument(TypedDict):
    """The best spares of the hosts of a job."""

    machine: str
    """The machine as text."""
    order: list[str]
    """Hosts in the order of the ranks."""
    spares: list[str]
    """Allocated hosts without ranks."""
    seconds: dict[str, float]
    """Predicted time before a loss in seconds, with hosts `in-place` and `sorted`."""
    lost: dict[str, list[ReplacementFields]]
    """The best spare of every host, `in-place` and `sorted`."""


class ExpertCostFields(TypedDict):
    """The cost of a placement of experts, averaged over layers."""

    visits: float
    """Remote nodes per token; or the share of choices that leave a node."""
    load: float
    """Load of the busiest GPU divided by the mean."""
    load_worst: float
    """This ratio in the worst layer."""


class TriedSlack(TypedDict):
    """A tried slack of the load, and its cost."""

    slack: float
    """Share by which the busiest GPU may exceed the most even load."""
    visits: float
    """As in a placement."""
    load: float
    """As in a placement."""
    step: float
    """Step time relative to that with the smallest slack."""


class ExpertsDocument(TypedDict):
    """A placement of experts on GPUs."""

    layers: list[int]
    """The layers with experts."""
    experts: int
    """Number of experts per layer."""
    gpus: int
    """Number of GPUs."""
    nodes: int
    """Number of nodes, or NVLink domains."""
    slots: int
    """Number of slots for experts and their replicas, per layer."""
    dispatch: str
    """`nearest`: tokens are sent to a replica on their node; or `spread`."""
    unit: str
    """Unit of visits: `nodes per token`, or `choices` without recorded tokens."""
    slack: float
    """Share by which the busiest GPU may exceed the most even load."""
    slacks_tried: list[TriedSlack]
    """Slacks that the search compared."""
    in_order: ExpertCostFields
    """Experts in order of their numbers."""
    by_load: ExpertCostFields
    """Experts balanced by load only."""
    best: ExpertCostFields
    """The chosen placement."""
    gain_percent: float | None
    """Reduction of visits relative to `by_load`, in percent."""
    visits_at_least: float | None
    """Lower bound on visits; null if unknown."""
    physical_to_logical_map: list[list[int]]
    """Expert in each slot, by layer."""
