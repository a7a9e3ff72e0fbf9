# SPDX-License-Identifier: BSD-3-Clause
"""Every importer recognizes its own files and no others."""

from __future__ import annotations

import pytest
from fat_tree_dump import make_fat_tree
from simgrid_platforms import LISTED
from test_cloud import AWS, GOOGLE, ORACLE
from test_hwloc import VIRTUAL, UniformTopology
from test_ibnetdiscover import CAPTURE
from test_nccl import HGX, LOPSIDED, PCI_ONLY, RING
from test_scotch import READ as TARGETS
from test_simgrid import READ as PLATFORMS
from test_slingshot import BARE, CARDS, SWITCHES, XNAMES
from test_slurm import (
    ADDRESSES,
    BLOCKS,
    PRINTED,
    PRINTED_BLOCKS,
    REGIONS,
    TORUS,
    TREE,
    YAML,
)
from test_slurm_conf_nodes import CONF as SLURM_NODES
from test_tofu import HOSTS, RANKS
from test_xtdb2proc import XC, XE
from test_xtprocadmin import HEAD, list_cabinet_rows

from topoloom.machines.import_formats import IMPORTERS

KUBERNETES = """{"kind": "List", "items": [
  {"kind": "Node", "metadata": {"name": "a", "labels": {
    "network.topology.nvidia.com/leaf": "s1"}}},
  {"kind": "Node", "metadata": {"name": "b", "labels": {
    "network.topology.nvidia.com/leaf": "s2"}}}
]}"""
TPUS = """{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "a",
  "labels": {"cloud.google.com/gke-nodepool": "p",
  "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
  "cloud.google.com/gke-tpu-topology": "2x2"}},
  "status": {"allocatable": {"google.com/tpu": "4"}}}]}"""
NVIDIA = """\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV4\tSYS\tSYS\t0-7\t0
GPU1\tNV4\t X \tSYS\tSYS\t0-7\t0
GPU2\tSYS\tSYS\t X \tNV4\t8-15\t1
GPU3\tSYS\tSYS\tNV4\t X \t8-15\t1
"""
AMD = """LINK TYPE TABLE:
       0000:01:00.0 0000:02:00.0
0000:01:00.0   SELF   XGMI
0000:02:00.0   XGMI   SELF

NUMA BW TABLE:
       0000:01:00.0 0000:02:00.0
0000:01:00.0   N/A   50000-100000
0000:02:00.0   50000-100000   N/A
"""
SMALL = make_fat_tree(2, 1, 2, 1, 1)
#: importer -> texts in its format
SAMPLES = {
    "hwloc": [
        VIRTUAL,
        UniformTopology([("Package", 2), ("L3Cache", 2), ("Core", 2)]).format_xml(),
    ],
    "slurm-conf": [TREE, PRINTED, BLOCKS, PRINTED_BLOCKS],
    "slurm-nodes": [SLURM_NODES],
    "slurm-yaml": [YAML, TORUS, REGIONS],
    "slurm-address": [ADDRESSES],
    "ibnetdiscover": [CAPTURE, SMALL.format_dump() + SMALL.format_tables()],
    "xtprocadmin": [HEAD + "".join(list_cabinet_rows(2, chassis=1, blades=9))],
    "xtdb2proc": [XE, XC],
    "slingshot": [CARDS, XNAMES, BARE, SWITCHES],
    "tofu": [HOSTS, RANKS],
    "nccl": [HGX, PCI_ONLY, RING, LOPSIDED],
    "nvidia-smi": [NVIDIA],
    "amd-smi": [AMD],
    "aws": [AWS],
    "google": [GOOGLE],
    "oracle": [ORACLE],
    "kubernetes": [KUBERNETES, TPUS],
    "scotch": [target for target, _ in TARGETS],
    "simgrid": [*(platform for platform, _ in PLATFORMS), *LISTED],
}


def test_every_importer_is_listed_once_and_has_samples() -> None:
    assert [importer.name for importer in IMPORTERS] == list(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_is_recognized_only_by_its_importer(name: str) -> None:
    for text in SAMPLES[name]:
        assert [one.name for one in IMPORTERS if one.recognizes(text)] == [name]
