# SPDX-License-Identifier: BSD-3-Clause
"""Formats scheduler requests for segments of hosts under a common switch.

- Slurm: with ``topology/block``, ``--segment``, and ``--consolidate-segments`` for a
  single aggregated block; with ``topology/tree``, ``--switches``;
- Kueue: nested slices of a PodSet, by annotations of the pod template;
- KAI: segments by annotations of the pod template, and the whole job by annotations of
  the workload;
- Volcano: partitions of a task, below HyperNodes of a tier, and the tier of the job.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from topoloom._core import Error
from topoloom.support.name_lookup import find_by_name


class _SegmentLimits(NamedTuple):
    """Limits of the segments that a scheduler supports.

    Attributes
    ----------
    layers
        Maximum number of nested segment sizes.
    upper
        Whether the scheduler supports segments at levels above leaf groups.
    """

    layers: int
    upper: bool


_LIMITS = {
    "slurm": _SegmentLimits(1, False),
    "kueue": _SegmentLimits(3, True),
    "kai": _SegmentLimits(1, True),
    "volcano": _SegmentLimits(1, True),
}
SCHEDULERS = tuple(_LIMITS)

_LABELS = [f"network.topology.nvidia.com/{name}" for name in ("leaf", "spine", "core")]


class TopologyRequest(NamedTuple):
    """The number of hosts of a job, and the network groups that they must share.

    Attributes
    ----------
    hosts
        Number of hosts of the job.
    gpus
        Number of GPUs per host.
    segment
        Number of hosts that must be in the same leaf group; divides `hosts`. 1 means no
        request. leaf Number of hosts of the largest leaf group.
    domain
        Whether leaf groups are NVLink domains instead of leaf switches.
    labels
        Kubernetes labels of levels, from leaf groups up, as far as known.
    above
        Number of hosts that must be in the same group, for each level above leaf
        groups. 1 means no request.
    """

    hosts: int
    gpus: int
    segment: int
    leaf: int
    domain: bool
    labels: tuple[str, ...] = ()
    above: tuple[int, ...] = ()

    def label(self, level: int) -> str:
        """Return the label of a level; if unknown, the label of Topograph or NVIDIA."""
        usual = ["nvidia.com/gpu.clique", *_LABELS] if self.domain else _LABELS
        known = self.labels[level] if level < len(self.labels) else ""
        return known or usual[min(level, len(usual) - 1)]

    @property
    def layers(self) -> list[tuple[int, int]]:
        """Requested segments as pairs of level and host count, leaf groups first."""
        found, largest = list[tuple[int, int]](), 1
        for level, size in enumerate((self.segment, *self.above)):
            if size > largest:
                found.append((level, size))
                largest = size
        return [(level, size) for level, size in found if size < self.hosts]

    @property
    def whole_job_level(self) -> int | None:
        """The level at which the job must be in one group; None if there is none."""
        sizes = (self.segment, *self.above)
        whole = sizes.index(self.hosts) if self.hosts in sizes else None
        return whole if self.hosts > 1 else None

    def describe(self) -> str:
        """Describe the request in words."""
        parts = [
            f"{size} hosts under one {self.label(level)}"
            if level
            else f"segments of {size} hosts"
            for level, size in self.layers
        ]
        if self.whole_job_level is not None:
            parts.append(f"all hosts under one {self.label(self.whole_job_level)}")
        return ", ".join(parts) or "any hosts"


def can_request(scheduler: str, request: TopologyRequest) -> bool:
    """Return whether a scheduler supports a request."""
    limits = find_by_name("scheduler", scheduler, _LIMITS)
    lowest = all(level == 0 for level, _ in request.layers)
    return len(request.layers) <= limits.layers and (limits.upper or lowest)


def format_request_lines(scheduler: str, request: TopologyRequest) -> list[str]:
    """Format a request as lines of a job script, or of a manifest (a pod per host)."""
    writers = {
        "slurm": _format_slurm,
        "kueue": _format_kueue,
        "kai": _format_kai,
        "volcano": _format_volcano,
    }
    if not can_request(scheduler, request):
        raise Error(f"{scheduler} does not support {request.describe()}")
    return writers[scheduler](request)


def _format_slurm(request: TopologyRequest) -> list[str]:
    filled = request.leaf // request.segment * request.segment
    switches = -(-request.hosts // max(1, filled))
    lines = [
        f"#SBATCH --nodes={request.hosts}",
        f"#SBATCH --gpus-per-node={request.gpus}",
    ]
    if request.segment == 1 and not request.whole_job_level:
        return lines
    lines.append(f"#SBATCH --segment={request.segment}")
    if request.whole_job_level:
        lines += [
            "# one aggregated block for all of them, since Slurm 25.11:",
            "#SBATCH --consolidate-segments",
        ]
    if request.segment > 1:
        lines += [
            "# with topology/tree in place of --segment, which is for topology/block:",
            f"##SBATCH --switches={switches}",
        ]
    return lines


def _format_kueue(request: TopologyRequest) -> list[str]:
    lines = [
        "# in the pod template; labels are levels of the cluster's Topology",
        "metadata:",
        "  annotations:",
    ]
    own = "    kueue.x-k8s.io/podset-"
    if request.whole_job_level is not None:
        lines.append(
            f"{own}required-topology: {request.label(request.whole_job_level)}"
        )
    if len(request.layers) > 1:
        lines += [
            "    # since Kueue 0.19, or 0.17 with the gate TASMultiLayerTopology",
            f"{own}slice-required-topology-constraints: |",
            "      [",
            *_join_with_commas(
                f'        {{"topology": "{request.label(level)}", "size": {size}}}'
                for level, size in reversed(request.layers)
            ),
            "      ]",
        ]
    for level, size in request.layers if len(request.layers) == 1 else ():
        lines += [
            f"{own}slice-required-topology: {request.label(level)}",
            f'{own}slice-size: "{size}"',
        ]
    if request.whole_job_level is None and not request.layers:
        lines.append(f'{own}unconstrained-topology: "true"')
    return [*lines, "spec:", *_format_containers(request, "  ")]


def _join_with_commas(entries: Iterable[str]) -> list[str]:
    *before, last = entries
    return [*(f"{entry}," for entry in before), last]


def _format_kai(request: TopologyRequest) -> list[str]:
    lines = [
        "# at the workload; the label is a level of the Topology, which has a name",
        "metadata:",
        "  annotations:",
        "    kai.scheduler/topology: cluster-topology",
    ]
    if request.whole_job_level is not None:
        label = request.label(request.whole_job_level)
        lines.append(f"    kai.scheduler/topology-required-placement: {label}")
    elif not request.layers:
        label = request.label(0)
        lines.append(f"    kai.scheduler/topology-preferred-placement: {label}")
    for level, size in request.layers:
        label = request.label(level)
        lines += [
            "# in the pod template of a PyTorchJob's Worker or a LeaderWorkerSet",
            "template:",
            "  metadata:",
            "    annotations:",
            f'      kai.scheduler/segment-size: "{size}"',
            f"      kai.scheduler/segment-topology-required-placement: {label}",
        ]
    return lines


def _format_volcano(request: TopologyRequest) -> list[str]:
    lines = [
        "# a HyperNode of tier 1 is a leaf group, and of tier 2 what these are in",
        "spec:",
        "  schedulerName: volcano",
        f"  minAvailable: {request.hosts}",
    ]
    soft = "{mode: soft}"
    job = (
        soft
        if request.whole_job_level is None
        else _format_hard_topology(request.whole_job_level)
    )
    lines.append(f"  networkTopology: {job}")
    lines += ["  tasks:", "  - name: worker", f"    replicas: {request.hosts}"]
    for level, size in request.layers:
        lines += [
            "    partitionPolicy:",
            f"      totalPartitions: {request.hosts // size}",
            f"      partitionSize: {size}",
            f"      networkTopology: {_format_hard_topology(level)}",
        ]
    return [
        *lines,
        "    template:",
        "      spec:",
        *_format_containers(request, "        "),
    ]


def _format_hard_topology(level: int) -> str:
    return f"{{mode: hard, highestTierAllowed: {level + 1}}}"


def _format_containers(request: TopologyRequest, indent: str) -> list[str]:
    lines = ["containers:", "- name: worker", "  resources:", "    limits:"]
    return [indent + line for line in [*lines, f"      nvidia.com/gpu: {request.gpus}"]]
