# SPDX-License-Identifier: BSD-3-Clause
"""What a job asks a scheduler for: hosts in segments that share a leaf group.

- Slurm: ``--segment`` of ``topology/block``, ``--switches`` of ``topology/tree``;
- Kueue: slices of a PodSet, by annotations of the pod template;
- KAI: segments, by annotations of the workload;
- Volcano: partitions of a task, below HyperNodes of tier 1.
"""

from __future__ import annotations

from typing import NamedTuple

from topoloom._core import Error
from topoloom.support.nearest import unknown_name

#: Schedulers that a request is written for.
SCHEDULERS = ("slurm", "kueue", "kai", "volcano")


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
    own_label
        The label of a leaf group where it is known.
    """

    hosts: int
    gpus: int
    segment: int
    leaf: int
    domain: bool
    own_label: str = ""

    @property
    def label(self) -> str:
        """The label of a leaf group, by default as Topograph or NVIDIA writes it."""
        usual = (
            "nvidia.com/gpu.clique"
            if self.domain
            else "network.topology.nvidia.com/leaf"
        )
        return self.own_label or usual


def request_lines(scheduler: str, shape: Shape) -> list[str]:
    """Write what to put into a script or a manifest, with a pod for each host.

    Raises
    ------
    topoloom.Error
        For another scheduler.
    """
    writers = {"slurm": _slurm, "kueue": _kueue, "kai": _kai, "volcano": _volcano}
    if scheduler not in writers:
        raise Error(unknown_name("scheduler", scheduler, SCHEDULERS))
    return writers[scheduler](shape)


def _slurm(shape: Shape) -> list[str]:
    switches = -(-shape.hosts // shape.leaf)
    lines = [
        f"#SBATCH --nodes={shape.hosts}",
        f"#SBATCH --gpus-per-node={shape.gpus}",
    ]
    if shape.segment == 1:
        return lines
    return [
        *lines,
        f"#SBATCH --segment={shape.segment}",
        "# with topology/tree in place of --segment, which is for topology/block:",
        f"##SBATCH --switches={switches}",
    ]


def _kueue(shape: Shape) -> list[str]:
    lines = [
        "# in the pod template; the label is a level of the cluster's Topology",
        "metadata:",
        "  annotations:",
    ]
    if shape.segment == 1:
        lines.append('    kueue.x-k8s.io/podset-unconstrained-topology: "true"')
    elif shape.segment == shape.hosts:
        lines.append(f"    kueue.x-k8s.io/podset-required-topology: {shape.label}")
    else:
        lines += [
            f"    kueue.x-k8s.io/podset-slice-required-topology: {shape.label}",
            f'    kueue.x-k8s.io/podset-slice-size: "{shape.segment}"',
        ]
    return [*lines, "spec:", *_gpus(shape, "  ")]


def _kai(shape: Shape) -> list[str]:
    lines = [
        "# at the workload; the label is a level of the Topology, which has a name",
        "metadata:",
        "  annotations:",
    ]
    lines.append("    kai.scheduler/topology: cluster-topology")
    if shape.segment == 1:
        lines.append(f"    kai.scheduler/topology-preferred-placement: {shape.label}")
    elif shape.segment == shape.hosts:
        lines.append(f"    kai.scheduler/topology-required-placement: {shape.label}")
    else:
        lines += [
            f'    kai.scheduler/segment-size: "{shape.segment}"',
            f"    kai.scheduler/segment-topology-required-placement: {shape.label}",
        ]
    return lines


def _volcano(shape: Shape) -> list[str]:
    hard = "{mode: hard, highestTierAllowed: 1}"
    lines = ["# a HyperNode of tier 1 is a leaf group", "spec:"]
    lines += ["  schedulerName: volcano", f"  minAvailable: {shape.hosts}"]
    if shape.segment == shape.hosts > 1:
        lines.append(f"  networkTopology: {hard}")
    else:
        lines.append("  networkTopology: {mode: soft}")
    lines += ["  tasks:", "  - name: worker", f"    replicas: {shape.hosts}"]
    if 1 < shape.segment < shape.hosts:
        lines += [
            "    partitionPolicy:",
            f"      totalPartitions: {shape.hosts // shape.segment}",
            f"      partitionSize: {shape.segment}",
            f"      networkTopology: {hard}",
        ]
    return [*lines, "    template:", "      spec:", *_gpus(shape, "        ")]


def _gpus(shape: Shape, indent: str) -> list[str]:
    lines = ["containers:", "- name: worker", "  resources:", "    limits:"]
    return [indent + line for line in [*lines, f"      nvidia.com/gpu: {shape.gpus}"]]
