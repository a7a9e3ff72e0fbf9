# SPDX-License-Identifier: BSD-3-Clause
"""The registry of formats that describe machines; a new one: a file and a line here."""

from __future__ import annotations

from topoloom.discover.cloud import (
    is_aws_topology,
    is_google_instances,
    is_oracle_hosts,
    read_aws_topology,
    read_google_instances,
    read_oracle_hosts,
)
from topoloom.discover.described import Importer
from topoloom.discover.hwloc import read_hwloc, recognizes_hwloc
from topoloom.discover.ibnetdiscover import (
    read_ibnetdiscover,
    recognizes_ibnetdiscover,
)
from topoloom.discover.nccl import is_nccl_topology, read_nccl_topology
from topoloom.discover.scotch import is_scotch_target, read_scotch_target
from topoloom.discover.simgrid import is_simgrid_platform, read_simgrid_platform
from topoloom.discover.slurm_address import (
    read_slurm_address,
    recognizes_slurm_address,
)
from topoloom.discover.slurm_conf import read_slurm_conf, recognizes_slurm_conf
from topoloom.discover.slurm_yaml import read_slurm_yaml, recognizes_slurm_yaml
from topoloom.discover.xtprocadmin import read_xtprocadmin, recognizes_xtprocadmin

IMPORTERS: tuple[Importer, ...] = (
    Importer(
        "hwloc",
        "the XML of hwloc 2 or 3, as lstopo exports it",
        recognizes_hwloc,
        read_hwloc,
    ),
    Importer(
        "slurm-conf",
        "Slurm's topology.conf, or what scontrol show topology prints",
        recognizes_slurm_conf,
        read_slurm_conf,
    ),
    Importer(
        "slurm-yaml",
        "Slurm's topology.yaml",
        recognizes_slurm_yaml,
        read_slurm_yaml,
    ),
    Importer(
        "slurm-address",
        "lines 'host SLURM_TOPOLOGY_ADDR' of a job's nodes",
        recognizes_slurm_address,
        read_slurm_address,
    ),
    Importer(
        "ibnetdiscover",
        "the output of ibnetdiscover, with or without forwarding tables",
        recognizes_ibnetdiscover,
        read_ibnetdiscover,
    ),
    Importer(
        "xtprocadmin",
        "the nodes of a Cray XC, as xtprocadmin or xtnids lists them",
        recognizes_xtprocadmin,
        read_xtprocadmin,
    ),
    Importer("nccl", "NCCL topology (XML)", is_nccl_topology, read_nccl_topology),
    Importer("aws", "Amazon EC2 instance topology", is_aws_topology, read_aws_topology),
    Importer(
        "google",
        "Google Compute Engine instances",
        is_google_instances,
        read_google_instances,
    ),
    Importer("oracle", "Oracle compute hosts", is_oracle_hosts, read_oracle_hosts),
    Importer("scotch", "Scotch target (.tgt)", is_scotch_target, read_scotch_target),
    Importer(
        "simgrid",
        "SimGrid platform (XML), one cluster or zone",
        is_simgrid_platform,
        read_simgrid_platform,
    ),
    Importer("nccl", "NCCL topology (XML)", is_nccl_topology, read_nccl_topology),
    Importer("aws", "Amazon EC2 instance topology", is_aws_topology, read_aws_topology),
    Importer(
        "google",
        "Google Compute Engine instances",
        is_google_instances,
        read_google_instances,
    ),
    Importer("oracle", "Oracle compute hosts", is_oracle_hosts, read_oracle_hosts),
)
