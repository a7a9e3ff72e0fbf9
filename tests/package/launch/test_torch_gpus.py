# SPDX-License-Identifier: BSD-3-Clause
"""Finds the GPU of a rank from variables of NVIDIA and AMD, and from tool output."""

from __future__ import annotations

from typing import Any

import pytest

from topoloom.launch.apply.torch_ranks import GpuList, ReportedRank, read_rank

NVIDIA = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-d268)
  MIG 1g.5gb      Device  0: (UUID: MIG-11)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89ffff-0001)
  MIG 1g.5gb      Device  0: (UUID: MIG-21)
  MIG 1g.5gb      Device  1: (UUID: MIG-22)
"""
#: output of `rocminfo`, which also lists processors as agents
AMD = """\
  Uuid:                    CPU-XX
  Uuid:                    GPU-2e1f0a
  Uuid:                    GPU-XX
  Uuid:                    GPU-77aa01
"""


@pytest.mark.parametrize(
    ("gpu_list", "uuid", "found"),
    [
        (NVIDIA, "GPU-5c89ffff", ("1", "GPU-5c89ffff-0001")),
        (NVIDIA, "5c89ffff-0001", ("1", "GPU-5c89ffff-0001")),
        (NVIDIA, "MIG-22", ("1", "MIG-22")),
        (NVIDIA, "MIG-GPU-5c89852c-d268/1/0", ("0", "MIG-GPU-5c89852c-d268/1/0")),
        (NVIDIA, "GPU-5c89", ("", "GPU-5c89")),
        (NVIDIA, "GPU-0", ("", "GPU-0")),
        (AMD, "GPU-77aa01", ("2", "GPU-77aa01")),
        (AMD, "GPU-XX", ("", "GPU-XX")),
        ("", "GPU-5c89ffff", ("", "GPU-5c89ffff")),
    ],
)
def test_a_uuid_names_a_gpu(gpu_list: str, uuid: str, found: tuple[str, str]) -> None:
    assert GpuList(gpu_list).find_gpu(uuid) == found


def describe_rank(local: int, **variables: str) -> dict[str, Any]:
    return {"host": "a", "local": local, "by_torchrun": True, **variables}


@pytest.mark.parametrize(
    ("variables", "gpu"),
    [
        (describe_rank(1), "1"),
        (describe_rank(1, CUDA_VISIBLE_DEVICES="6, 05"), "5"),
        (describe_rank(2, CUDA_VISIBLE_DEVICES="6,5"), ""),
        (describe_rank(0, CUDA_VISIBLE_DEVICES="-1"), ""),
        (describe_rank(0, CUDA_VISIBLE_DEVICES=""), ""),
        (describe_rank(1, HIP_VISIBLE_DEVICES="3,2"), "2"),
        (describe_rank(1, HIP_VISIBLE_DEVICES="3,2", CUDA_VISIBLE_DEVICES="9"), "2"),
        (
            describe_rank(1, ROCR_VISIBLE_DEVICES="4,5,6", HIP_VISIBLE_DEVICES="0,2"),
            "6",
        ),
        (describe_rank(1, ROCR_VISIBLE_DEVICES="GPU-XX,GPU-77aa01"), "2"),
        (describe_rank(3, CUDA_VISIBLE_DEVICES="2") | {"by_torchrun": False}, "2"),
    ],
)
def test_variables_name_the_gpus_of_a_host(variables: dict[str, Any], gpu: str) -> None:
    assert read_rank(variables, None, GpuList(AMD)).gpu == gpu


def test_the_gpu_used_by_pytorch_overrides_variables() -> None:
    """Identify the GPU by its UUID, or else by its index among the visible GPUs."""
    about = describe_rank(0, CUDA_VISIBLE_DEVICES="1,0")
    used = {"device": 1, "uuid": "5c89852c-d268"}
    whole = ReportedRank("a", "0", "GPU-5c89852c-d268", used=True)
    assert read_rank(about, used, GpuList(NVIDIA)) == whole
    assert read_rank(about, used, GpuList()) == ReportedRank("a", "0", used=True)
    assert read_rank(about, None, GpuList()) == ReportedRank("a", "1")
