# SPDX-License-Identifier: BSD-3-Clause
"""The table of importers. To add a format, add a module and an entry here."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom.support.parameter_error import ParameterError

if TYPE_CHECKING:
    from topoloom.importers.machine_description import MachineDescription, Selection


class Importer(NamedTuple):
    """A file format, and the module that reads it, imported on first use.

    Attributes
    ----------
    name, summary
        The texts that ``topoloom list formats`` prints.
    module, reader
        A module, and its function that reads the text of a file. Its errors begin with
        ``line N:``.
    pattern
        Regular expression that matches in the first 64 KiB of files of this format.
    check
        The module's function that decides after `pattern` matches; "" if a match is
        sufficient.
    selects
        Fields of `Selection` that `reader` takes as keyword arguments.
    """

    name: str
    summary: str
    module: str
    reader: str
    pattern: str
    check: str = ""
    selects: tuple[str, ...] = ()

    def recognizes(self, head: str) -> bool:
        """Return whether a text has this format, based on its first 64 KiB."""
        if not re.search(self.pattern, head):
            return False
        return not self.check or bool(self._load_function(self.check)(head))

    def read(self, text: str, selection: Selection | None = None) -> MachineDescription:
        """Read a machine from the text of a file, or a part of it."""
        given = selection._asdict() if selection else {}
        given = {key: value for key, value in given.items() if value}
        for key in given:
            if key not in self.selects:
                raise ParameterError(
                    key, f"cannot be combined with files of {self.name}"
                )
        described: MachineDescription = self._load_function(self.reader)(text, **given)
        return described

    def _load_function(self, function: str) -> Callable[..., Any]:
        loaded: Callable[..., Any] = getattr(import_module(self.module), function)
        return loaded


IMPORTERS: tuple[Importer, ...] = (
    Importer(
        "hwloc",
        "the XML of hwloc 2 or 3, as lstopo exports it",
        "topoloom.importers.hwloc",
        "read_hwloc",
        r"(?s)\A(?=.*<object).*<topology[\s>]",
    ),
    Importer(
        "slurm-conf",
        "Slurm's topology.conf, or what scontrol show topology prints",
        "topoloom.importers.slurm.topology_conf",
        "read_slurm_conf",
        r"(?i)(?:switch|block|ring)name|aggregatedblock|blocksizes",
        "recognizes_slurm_conf",
        ("part",),
    ),
    Importer(
        "slurm-nodes",
        "the NodeName lines of Slurm's slurm.conf: cores and GPUs of its nodes",
        "topoloom.importers.slurm.slurm_conf_nodes",
        "read_slurm_nodes",
        r"(?im)^[ \t]*(?:nodename|clustername|slurmctldhost)[ \t]*=",
    ),
    Importer(
        "slurm-yaml",
        "Slurm's topology.yaml",
        "topoloom.importers.slurm.topology_yaml",
        "read_slurm_yaml",
        r"(?m)^[ \t]*-[ \t]+[\"']?topology[\"']?[ \t]*:",
        selects=("topology", "part"),
    ),
    Importer(
        "slurm-address",
        "lines 'host SLURM_TOPOLOGY_ADDR' of a job's nodes",
        "topoloom.importers.slurm.topology_address",
        "read_slurm_address",
        r"\A\s*(?:[0-9]+:\s+)?\S+[ \t]+\S+[ \t]*(?:\r?\n|\Z)",
        "recognizes_slurm_address",
    ),
    Importer(
        "ibnetdiscover",
        "the output of ibnetdiscover, with or without forwarding tables",
        "topoloom.importers.infiniband.ibnetdiscover",
        "read_ibnetdiscover",
        r'(?m)^(?:Switch|Ca|Rt)[ \t]+[0-9]+[ \t]+"[SHR]-[0-9a-f]{16}"',
    ),
    Importer(
        "xtprocadmin",
        "the nodes of a Cray XC, as xtprocadmin or xtnids lists them",
        "topoloom.importers.cray.xtprocadmin",
        "read_xtprocadmin",
        r"(?m)^[ \t]*NID[ \t]+\(HEX\)[ \t]+NODENAME\b",
    ),
    Importer(
        "xtdb2proc",
        "the nodes of a Cray XT, XE or XC with coordinates, as xtdb2proc lists them",
        "topoloom.importers.cray.xtdb2proc",
        "read_xtdb2proc",
        r"(?m)^(?=[^\n]{0,400}\bx_coord=)(?=[^\n]{0,400}\bprocessor_id=)[a-z_]+=",
    ),
    Importer(
        "slingshot",
        "lines 'host address', 'host xname' or 'host group' of an HPE Cray EX",
        "topoloom.importers.cray.slingshot",
        "read_slingshot",
        r"(?m)^[ \t]*(?:x[0-9]|[A-Za-z][\w.\-]*[ \t]+(?:NIC\s|02:|x?[0-9]))",
        "recognizes_slingshot",
    ),
    Importer(
        "tofu",
        "lines 'host X Y Z a b c' of Fugaku and other Tofu systems",
        "topoloom.importers.tofu",
        "read_tofu",
        r"(?m)^[ \t]*[\w.\-]+[ \t:(]+[0-9]{1,6}(?:[ \t,]+[0-9]{1,6}){5}\b",
        "recognizes_tofu",
    ),
    Importer(
        "nccl",
        "the XML of NCCL_TOPO_DUMP_FILE by NCCL or RCCL, the GPUs of one host",
        "topoloom.importers.cloud.nccl",
        "read_nccl_topology",
        r"<system\s[^<>]{0,500}?version\s*=",
        selects=("xgmi",),
    ),
    Importer(
        "nvidia-smi",
        "the table of nvidia-smi topo -m, the GPUs of one host",
        "topoloom.importers.cloud.nvidia_smi",
        "read_nvidia_topology",
        r"(?m)^(?:\x1b\[[0-9;]*m|[ \t])*GPU0\b.*\n(?:\x1b\[[0-9;]*m)?GPU0[ \t]+X\b",
    ),
    Importer(
        "amd-smi",
        "the tables of rocm-smi --showtopo or amd-smi topology, the GPUs of one host",
        "topoloom.importers.cloud.amd_smi",
        "read_amd_topology",
        r"(?m)Link Type between two GPUs|^LINK TYPE TABLE:",
        selects=("xgmi",),
    ),
    Importer(
        "aws",
        "Amazon's aws ec2 describe-instance-topology",
        "topoloom.importers.cloud.instances",
        "read_aws_topology",
        r'\A\s*\{\s*"Instances"\s*:\s*\[\s*\]'
        r'|\A(?s:(?=.*"NetworkNodes").*"InstanceId")',
    ),
    Importer(
        "google",
        "Google's gcloud compute instances list --format=json",
        "topoloom.importers.cloud.instances",
        "read_google_instances",
        r'"physicalHost(?:Topology)?"\s*:|"compute#instance',
    ),
    Importer(
        "oracle",
        "Oracle's oci compute compute-host list",
        "topoloom.importers.cloud.instances",
        "read_oracle_hosts",
        r'(?i)"(?:compute-?)?hpc-?island-?id"\s*:',
    ),
    Importer(
        "kubernetes",
        "kubectl get nodes -o json: labels of Topograph, NVIDIA and CoreWeave",
        "topoloom.importers.cloud.kubernetes",
        "read_kubernetes_nodes",
        r'"kind"\s*:\s*"(?:Node|NodeList|List)"',
    ),
    Importer(
        "scotch",
        "a target file of Scotch or TreeMatch (.tgt)",
        "topoloom.importers.scotch",
        "read_scotch_target",
        r"(?i)\A\s*(?:cmplt|deco|l?tleaf|sub|var|hcub|mesh|torus)",
        "recognizes_scotch_target",
    ),
    Importer(
        "simgrid",
        "a SimGrid platform (XML) of clusters, zones, hosts and routes",
        "topoloom.importers.simgrid.clusters",
        "read_simgrid_platform",
        r"<platform\s[^<>]{0,500}?version\s*=",
    ),
)
