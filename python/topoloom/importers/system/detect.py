# SPDX-License-Identifier: BSD-3-Clause
"""Detects the machine of this process: its node, or all nodes of its batch job."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.hwloc import read_node_cores
from topoloom.importers.identical_nodes import describe_identical_nodes
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.network_speeds import add_assumed_speeds
from topoloom.importers.slurm.job_machine import (
    describe_by_cpu_counts,
    describe_slurm_job,
)
from topoloom.importers.slurm.scontrol_job import list_job_nodes, parse_cpu_counts
from topoloom.importers.system.cpus import read_sysfs_node
from topoloom.importers.system.nic_speed import read_nic_speed
from topoloom.importers.system.node_lists import list_job_hosts
from topoloom.nodes.node_levels import NodeCores, describe_omitted_resources
from topoloom.support.child_processes import run_system_command
from topoloom.support.files import prefix_errors
from topoloom.support.hostlist import is_host_name
from topoloom.support.units import counted


def detect_machine() -> MachineDescription:
    """Describe this node, or the machine and allocation of the batch job.

    Slurm reports the switches, the cores of each node, and the job's cores. Other batch
    systems report only node names; nodes are assumed to equal this node and to be on
    one switch. Outside Slurm, slots are the cores in the affinity of this process. The
    network bandwidth is taken from the NICs of this node. Raises `topoloom.Error` if
    the node list cannot be read, or the job has ended.
    """
    return add_assumed_speeds(
        _detect_slurm_job() or _detect_by_host_names(), read_nic_speed()
    )


def _detect_slurm_job() -> MachineDescription | None:
    """Read the job from Slurm; None without Slurm, or if Flux runs inside the job."""
    nodes = None if os.environ.get("FLUX_URI") else list_job_nodes(os.environ)
    if nodes is None:
        return None
    this_host = os.environ.get("SLURMD_NODENAME") or platform.node().partition(".")[0]
    return describe_slurm_job(nodes, this_host, _read_whole_node)


def _detect_by_host_names() -> MachineDescription:
    hosts = list_job_hosts(os.environ)
    counts = os.environ.get("SLURM_JOB_CPUS_PER_NODE")
    of_slurm = os.environ.get("SLURM_JOB_NODELIST") and not os.environ.get("FLUX_URI")
    if counts and of_slurm:
        with prefix_errors("SLURM_JOB_CPUS_PER_NODE"):
            cpus = parse_cpu_counts(counts)
            if len(cpus) != len(hosts):
                raise Error(f"'{counts[:60]}' is not for {len(hosts)} nodes")
        return describe_by_cpu_counts(hosts, cpus, _read_this_node())
    if not hosts and is_host_name(platform.node()):
        hosts = (platform.node(),)
    inside = _read_this_node()
    described = describe_identical_nodes(inside, hosts, network="")
    remarks = (*_describe_missing_cores(inside), *describe_omitted_resources(inside))
    return replace(described, remarks=remarks)


def _describe_missing_cores(inside: NodeCores) -> list[str]:
    """Describe the CPUs of this node that this process may not use."""
    usable = sum(core.bit_count() for core in inside.cores)
    every = os.cpu_count() or usable
    if usable >= every:
        return []
    return [
        f"{every - usable:,} of {counted(every, 'hardware thread')} of this node left "
        "out: this process may not use them"
    ]


def _read_whole_node() -> NodeCores:
    """Find all cores of this node, including cores outside this process's affinity."""
    whole = _read_lstopo("--disallowed") or _read_lstopo()
    return whole or read_sysfs_node(range(os.cpu_count() or 1))


def _read_this_node() -> NodeCores:
    cpus = os.sched_getaffinity(0)
    mask = sum(1 << cpu for cpu in cpus)
    inside = _read_lstopo()
    if inside is not None and (usable := inside.restrict_to(mask)).cores:
        return usable
    return read_sysfs_node(cpus)


def _read_lstopo(*options: str) -> NodeCores | None:
    """Run hwloc's lstopo; None if lstopo is missing, too old or fails.

    With ``--disallowed``, cores outside the control group of this process are read,
    too.
    """
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    if program is None:
        return None
    output = run_system_command(program, "--of", "xml", *options)
    if output.status != 0:
        return None
    try:
        return read_node_cores(output.text, with_disallowed=bool(options))[0]
    except Error:
        return None
