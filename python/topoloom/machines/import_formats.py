# SPDX-License-Identifier: BSD-3-Clause
"""The registry of formats that describe machines; a new one: a file and a line here."""

from __future__ import annotations

from topoloom.importers.cloud.instances import (
    read_aws_topology,
    read_google_instances,
    read_oracle_hosts,
    recognizes_aws_topology,
    recognizes_google_instances,
    recognizes_oracle_hosts,
)
from topoloom.importers.cloud.kubernetes import (
    read_kubernetes_nodes,
    recognizes_kubernetes_nodes,
)
from topoloom.importers.cloud.nccl import (
    read_nccl_topology,
    recognizes_nccl_topology,
)
from topoloom.importers.cray.slingshot import read_slingshot, recognizes_slingshot
from topoloom.importers.cray.xtdb2proc import read_xtdb2proc, recognizes_xtdb2proc
from topoloom.importers.cray.xtprocadmin import (
    read_xtprocadmin,
    recognizes_xtprocadmin,
)
from topoloom.importers.described import Importer
from topoloom.importers.hwloc import read_hwloc, recognizes_hwloc
from topoloom.importers.infiniband.ibnetdiscover import (
    read_ibnetdiscover,
    recognizes_ibnetdiscover,
)
from topoloom.importers.scotch import read_scotch_target, recognizes_scotch_target
from topoloom.importers.simgrid.clusters import (
    read_simgrid_platform,
    recognizes_simgrid_platform,
)
from topoloom.importers.slurm.address import (
    read_slurm_address,
    recognizes_slurm_address,
)
from topoloom.importers.slurm.conf import read_slurm_conf, recognizes_slurm_conf
from topoloom.importers.slurm.node_lines import (
    read_slurm_nodes,
    recognizes_slurm_nodes,
)
from topoloom.importers.slurm.yaml import read_slurm_yaml, recognizes_slurm_yaml
from topoloom.importers.tofu import read_tofu, recognizes_tofu

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
        "slurm-nodes",
        "the NodeName lines of Slurm's slurm.conf: cores and GPUs of its nodes",
        recognizes_slurm_nodes,
        read_slurm_nodes,
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
    Importer(
        "xtdb2proc",
        "the nodes of a Cray XT, XE or XC with coordinates, as xtdb2proc lists them",
        recognizes_xtdb2proc,
        read_xtdb2proc,
    ),
    Importer(
        "slingshot",
        "lines 'host address', 'host xname' or 'host group' of an HPE Cray EX",
        recognizes_slingshot,
        read_slingshot,
    ),
    Importer(
        "tofu",
        "lines 'host X Y Z a b c' of Fugaku and other Tofu systems",
        recognizes_tofu,
        read_tofu,
    ),
    Importer(
        "nccl",
        "the XML of NCCL_TOPO_DUMP_FILE, the GPUs of one host",
        recognizes_nccl_topology,
        read_nccl_topology,
    ),
    Importer(
        "aws",
        "Amazon's aws ec2 describe-instance-topology",
        recognizes_aws_topology,
        read_aws_topology,
    ),
    Importer(
        "google",
        "Google's gcloud compute instances list --format=json",
        recognizes_google_instances,
        read_google_instances,
    ),
    Importer(
        "oracle",
        "Oracle's oci compute compute-host list",
        recognizes_oracle_hosts,
        read_oracle_hosts,
    ),
    Importer(
        "kubernetes",
        "kubectl get nodes -o json: labels of Topograph, NVIDIA and CoreWeave",
        recognizes_kubernetes_nodes,
        read_kubernetes_nodes,
    ),
    Importer(
        "scotch",
        "a target file of Scotch or TreeMatch (.tgt)",
        recognizes_scotch_target,
        read_scotch_target,
    ),
    Importer(
        "simgrid",
        "a SimGrid platform (XML) of one cluster or one zone",
        recognizes_simgrid_platform,
        read_simgrid_platform,
    ),
)
