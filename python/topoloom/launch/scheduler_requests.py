# SPDX-License-Identifier: BSD-3-Clause
"""What a job asks a scheduler for: hosts in segments that share a group of a level.

- Slurm: ``--segment`` and, for all in one aggregated block, ``--consolidate-segments``
  of ``topology/block``; ``--switches`` of ``topology/tree``;
- Kueue: slices of a PodSet, and slices of these, by annotations of the pod template;
- KAI: segments, by annotations of the pod template, and where all of them are, by
  annotations of the workload;
- Volcano: partitions of a task, below HyperNodes of a tier, and the tier of the job.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from topoloom._core import Error
from topoloom.support.nearest import unknown_name


class Says(NamedTuple):
    """What a scheduler can be asked for, beside where the whole job is.

    Attributes
    ----------
    layers
        How many sizes of segments within each other.
    upper
        Whether segments may be those of another level than leaf groups.
    """

    layers: int
    upper: bool


_SAYS = {
    "slurm": Says(1, False),
    "kueue": Says(3, True),
    "kai": Says(1, True),
    "volcano": Says(1, True),
}
#: Schedulers that a request is written for.
SCHEDULERS = tuple(_SAYS)

_LABELS = [f"network.topology.nvidia.com/{name}" for name in ("leaf", "spine", "core")]


class Shape(NamedTuple):
    """What the axes of a job want.

    Attributes
    ----------
    hosts
        The hosts of the job.
    gpus
        The GPUs of a host.
    segment
        Hosts that are to be in one leaf group; divides `hosts`. 1 asks for nothing.
    leaf
        The hosts of the largest leaf group.
    domain
        Whether a leaf group is an NVLink domain, else the hosts of a leaf switch.
    labels
        The labels of levels, from leaf groups up, where they are known.
    above
        For each level above leaf groups, the hosts that are to be in one of its groups.
        1 asks for nothing.
    """

    hosts: int
    gpus: int
    segment: int
    leaf: int
    domain: bool
    labels: tuple[str, ...] = ()
    above: tuple[int, ...] = ()

    def label(self, level: int) -> str:
        """Name the label of a level, by default as Topograph or NVIDIA writes it."""
        usual = ["nvidia.com/gpu.clique", *_LABELS] if self.domain else _LABELS
        known = self.labels[level] if level < len(self.labels) else ""
        return known or usual[min(level, len(usual) - 1)]

    @property
    def layers(self) -> list[tuple[int, int]]:
        """Levels and sizes of segments that are asked for, leaf groups first."""
        found, largest = list[tuple[int, int]](), 1
        for level, size in enumerate((self.segment, *self.above)):
            if size > largest:
                found.append((level, size))
                largest = size
        return [(level, size) for level, size in found if size < self.hosts]

    @property
    def whole(self) -> int | None:
        """The level of which one group is to hold the whole job."""
        sizes = (self.segment, *self.above)
        whole = sizes.index(self.hosts) if self.hosts in sizes else None
        return whole if self.hosts > 1 else None

    def words(self) -> str:
        """Say what is asked for."""
        words = [
            f"{size} hosts under one {self.label(level)}"
            if level
            else f"segments of {size} hosts"
            for level, size in self.layers
        ]
        if self.whole is not None:
            words.append(f"all hosts under one {self.label(self.whole)}")
        return ", ".join(words) or "any hosts"


def can_request(scheduler: str, shape: Shape) -> bool:
    """Return whether a scheduler can be asked for a shape.

    Raises
    ------
    topoloom.Error
        For another scheduler.
    """
    _check(scheduler)
    says = _SAYS[scheduler]
    lowest = all(level == 0 for level, _ in shape.layers)
    return len(shape.layers) <= says.layers and (says.upper or lowest)


def request_lines(scheduler: str, shape: Shape) -> list[str]:
    """Write what to put into a script or a manifest, with a pod for each host.

    Raises
    ------
    topoloom.Error
        For another scheduler, and for a shape that it cannot be asked for.
    """
    writers = {"slurm": _slurm, "kueue": _kueue, "kai": _kai, "volcano": _volcano}
    if not can_request(scheduler, shape):
        raise Error(f"{scheduler} cannot be asked for {shape.words()}")
    return writers[scheduler](shape)


def _check(scheduler: str) -> None:
    if scheduler not in SCHEDULERS:
        raise Error(unknown_name("scheduler", scheduler, SCHEDULERS))


def _slurm(shape: Shape) -> list[str]:
    filled = shape.leaf // shape.segment * shape.segment  # of a leaf, by segments
    switches = -(-shape.hosts // max(1, filled))
    lines = [
        f"#SBATCH --nodes={shape.hosts}",
        f"#SBATCH --gpus-per-node={shape.gpus}",
    ]
    if shape.segment == 1 and not shape.whole:
        return lines
    lines.append(f"#SBATCH --segment={shape.segment}")
    if shape.whole:
        lines += [
            "# one aggregated block for all of them, since Slurm 25.11:",
            "#SBATCH --consolidate-segments",
        ]
    if shape.segment > 1:
        lines += [
            "# with topology/tree in place of --segment, which is for topology/block:",
            f"##SBATCH --switches={switches}",
        ]
    return lines


def _kueue(shape: Shape) -> list[str]:
    lines = [
        "# in the pod template; labels are levels of the cluster's Topology",
        "metadata:",
        "  annotations:",
    ]
    own = "    kueue.x-k8s.io/podset-"
    if shape.whole is not None:
        lines.append(f"{own}required-topology: {shape.label(shape.whole)}")
    if len(shape.layers) > 1:
        lines += [
            "    # since Kueue 0.19, or 0.17 with the gate TASMultiLayerTopology",
            f"{own}slice-required-topology-constraints: |",
            "      [",
            *_joined(
                f'        {{"topology": "{shape.label(level)}", "size": {size}}}'
                for level, size in reversed(shape.layers)
            ),
            "      ]",
        ]
    for level, size in shape.layers if len(shape.layers) == 1 else ():
        lines += [
            f"{own}slice-required-topology: {shape.label(level)}",
            f'{own}slice-size: "{size}"',
        ]
    if shape.whole is None and not shape.layers:
        lines.append(f'{own}unconstrained-topology: "true"')
    return [*lines, "spec:", *_gpus(shape, "  ")]


def _joined(entries: Iterable[str]) -> list[str]:
    *before, last = entries
    return [*(f"{entry}," for entry in before), last]


def _kai(shape: Shape) -> list[str]:
    lines = [
        "# at the workload; the label is a level of the Topology, which has a name",
        "metadata:",
        "  annotations:",
        "    kai.scheduler/topology: cluster-topology",
    ]
    if shape.whole is not None:
        label = shape.label(shape.whole)
        lines.append(f"    kai.scheduler/topology-required-placement: {label}")
    elif not shape.layers:
        label = shape.label(0)
        lines.append(f"    kai.scheduler/topology-preferred-placement: {label}")
    for level, size in shape.layers:
        label = shape.label(level)
        lines += [
            "# in the pod template of a PyTorchJob's Worker or a LeaderWorkerSet",
            "template:",
            "  metadata:",
            "    annotations:",
            f'      kai.scheduler/segment-size: "{size}"',
            f"      kai.scheduler/segment-topology-required-placement: {label}",
        ]
    return lines


def _volcano(shape: Shape) -> list[str]:
    lines = [
        "# a HyperNode of tier 1 is a leaf group, and of tier 2 what these are in",
        "spec:",
        "  schedulerName: volcano",
        f"  minAvailable: {shape.hosts}",
    ]
    soft = "{mode: soft}"
    job = soft if shape.whole is None else _hard(shape.whole)
    lines.append(f"  networkTopology: {job}")
    lines += ["  tasks:", "  - name: worker", f"    replicas: {shape.hosts}"]
    for level, size in shape.layers:
        lines += [
            "    partitionPolicy:",
            f"      totalPartitions: {shape.hosts // size}",
            f"      partitionSize: {size}",
            f"      networkTopology: {_hard(level)}",
        ]
    return [*lines, "    template:", "      spec:", *_gpus(shape, "        ")]


def _hard(level: int) -> str:
    return f"{{mode: hard, highestTierAllowed: {level + 1}}}"


def _gpus(shape: Shape, indent: str) -> list[str]:
    lines = ["containers:", "- name: worker", "  resources:", "    limits:"]
    return [indent + line for line in [*lines, f"      nvidia.com/gpu: {shape.gpus}"]]
