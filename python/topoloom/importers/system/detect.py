# SPDX-License-Identifier: BSD-3-Clause
"""The machine that this process is on: its node, or all nodes of its batch job."""

from __future__ import annotations

import os
import platform
import shutil

from topoloom._core import Error
from topoloom.importers.described import Described
from topoloom.importers.hwloc import read_inside
from topoloom.importers.networks import with_speeds
from topoloom.importers.slurm.job import counted_cpus, job_nodes
from topoloom.importers.slurm.machine import describe_counted, describe_slurm_job
from topoloom.importers.system.cards import read_cards
from topoloom.importers.system.cpus import read_system
from topoloom.importers.system.node_lists import job_hosts
from topoloom.nodes.node_levels import Inside, levels_text, node_parts, nodes_text
from topoloom.support.files import prefix_errors
from topoloom.support.hostlist import is_host_name
from topoloom.support.program_output import run_program


def detect_machine() -> Described:
    """Describe this node, or the machine of the batch job with what the job has of it.

    Slurm is asked for the switches, for the cores of each node and for those that the
    job was given. Of other batch systems only the names of the nodes are known: they
    are taken to be all like this one and on one switch. Outside of Slurm, only cores
    that this process may use are slots. The cards of this node
    say how fast the network is.

    Raises
    ------
    topoloom.Error
        If the batch system's list of nodes cannot be read, or the job has ended.
    """
    return with_speeds(_of_slurm() or _of_names(), read_cards())


def _of_slurm() -> Described | None:
    """Ask Slurm, unless Flux runs inside its job; None if there is no answer."""
    nodes = None if os.environ.get("FLUX_URI") else job_nodes(os.environ)
    if nodes is None:
        return None
    this_host = os.environ.get("SLURMD_NODENAME") or platform.node().partition(".")[0]
    return describe_slurm_job(nodes, this_host, _whole_node)


def _of_names() -> Described:
    hosts = job_hosts(os.environ)
    counts = os.environ.get("SLURM_JOB_CPUS_PER_NODE")
    of_slurm = os.environ.get("SLURM_JOB_NODELIST") and not os.environ.get("FLUX_URI")
    if counts and of_slurm:
        with prefix_errors("SLURM_JOB_CPUS_PER_NODE"):
            cpus = counted_cpus(counts)
            if len(cpus) != len(hosts):
                raise Error(f"'{counts[:60]}' is not for {len(hosts)} nodes")
        return describe_counted(hosts, cpus, _this_node())
    if not hosts and is_host_name(platform.node()):
        hosts = (platform.node(),)
    inside = _this_node()
    text = nodes_text(max(1, len(hosts)), levels_text(inside))
    return Described(text, hosts, node=node_parts(inside), network="")


def _whole_node() -> Inside:
    """Find all cores of this node, whichever of them this process may use."""
    return _from_lstopo() or read_system(range(os.cpu_count() or 1))


def _this_node() -> Inside:
    cpus = os.sched_getaffinity(0)
    mask = sum(1 << cpu for cpu in cpus)
    inside = _from_lstopo()
    if inside is not None and (usable := inside.within(mask)).cores:
        return usable
    return read_system(cpus)


def _from_lstopo() -> Inside | None:
    """Ask hwloc; None where it is absent, too old or fails."""
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    if program is None:
        return None
    told = run_program(program, "--of", "xml")
    try:
        return read_inside(told.text)[0] if told.status == 0 else None
    except Error:
        return None
