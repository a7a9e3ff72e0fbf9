# SPDX-License-Identifier: BSD-3-Clause
"""Detects the machine of this process: its node, or all nodes of its batch job."""

from __future__ import annotations

import os
import platform
import shutil

from topoloom._core import Error
from topoloom.importers.hwloc import read_inside
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.network_speeds import assume_speeds
from topoloom.importers.slurm.job import job_nodes, parse_cpu_counts
from topoloom.importers.slurm.machine import describe_by_cpu_counts, describe_slurm_job
from topoloom.importers.system.cpus import read_system
from topoloom.importers.system.nic_speed import read_nic_speed
from topoloom.importers.system.node_lists import job_hosts
from topoloom.nodes.node_levels import (
    NodeCores,
    format_levels,
    format_nodes,
    make_node_parts,
)
from topoloom.support.child_processes import read_output
from topoloom.support.files import prefix_errors
from topoloom.support.hostlist import is_host_name


def detect_machine() -> MachineDescription:
    """Describe this node, or the machine and allocation of the batch job.

    Slurm reports switches, cores of nodes, and the job's cores. Other batch systems
    report only the names of nodes, which are assumed to be like this one and on one
    switch. Outside Slurm, slots are the cores that this process may use. The NICs of
    this node give the speed of the network. Raises `topoloom.Error` if the list of
    nodes cannot be read, or the job has ended.
    """
    return assume_speeds(_of_slurm() or _of_names(), read_nic_speed())


def _of_slurm() -> MachineDescription | None:
    """Read the job from Slurm; None without an answer, or if Flux runs inside it."""
    nodes = None if os.environ.get("FLUX_URI") else job_nodes(os.environ)
    if nodes is None:
        return None
    this_host = os.environ.get("SLURMD_NODENAME") or platform.node().partition(".")[0]
    return describe_slurm_job(nodes, this_host, _whole_node)


def _of_names() -> MachineDescription:
    hosts = job_hosts(os.environ)
    counts = os.environ.get("SLURM_JOB_CPUS_PER_NODE")
    of_slurm = os.environ.get("SLURM_JOB_NODELIST") and not os.environ.get("FLUX_URI")
    if counts and of_slurm:
        with prefix_errors("SLURM_JOB_CPUS_PER_NODE"):
            cpus = parse_cpu_counts(counts)
            if len(cpus) != len(hosts):
                raise Error(f"'{counts[:60]}' is not for {len(hosts)} nodes")
        return describe_by_cpu_counts(hosts, cpus, _this_node())
    if not hosts and is_host_name(platform.node()):
        hosts = (platform.node(),)
    inside = _this_node()
    text = format_nodes(max(1, len(hosts)), format_levels(inside))
    return MachineDescription(text, hosts, node=make_node_parts(inside), network="")


def _whole_node() -> NodeCores:
    """Find all cores of this node, also those that this process may not use."""
    return _from_lstopo() or read_system(range(os.cpu_count() or 1))


def _this_node() -> NodeCores:
    cpus = os.sched_getaffinity(0)
    mask = sum(1 << cpu for cpu in cpus)
    inside = _from_lstopo()
    if inside is not None and (usable := inside.restrict_to(mask)).cores:
        return usable
    return read_system(cpus)


def _from_lstopo() -> NodeCores | None:
    """Run hwloc's lstopo; None if it is absent, too old or fails."""
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    if program is None:
        return None
    output = read_output(program, "--of", "xml")
    try:
        return read_inside(output.text)[0] if output.status == 0 else None
    except Error:
        return None
