# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom verify` and `export` for torchrun: where ranks run, and what that costs.

A stub sets the environment variables that torchrun documents, because PyTorch takes too
long to install and import for a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from json_documents import check_document

if TYPE_CHECKING:
    from tests.conftest import Command, Outcome

TORCHRUN = """\
import os, subprocess, sys
node, count = int(os.environ["PET_NODE_RANK"]), int(os.environ["PET_NPROC_PER_NODE"])
assert os.environ["PET_RDZV_BACKEND"] == "static"
children = [
    subprocess.Popen(
        [sys.executable, *sys.argv[1:]],
        env={**os.environ, "GROUP_RANK": str(node), "LOCAL_RANK": str(local),
             "RANK": str(node * count + local)},
    )
    for local in range(count)
]
sys.exit(max(child.wait() for child in children))
"""
MACHINE = "tree:2:2,bandwidth=50GB/s:10GB/s+node:2"


def prepare_job(topoloom: Command) -> list[str]:
    """Write a placement on four hosts and a script; return the command to start it."""
    words = ["--mesh", "tp=2,pp=2,dp=2", "--traffic", "tp=1GB,dp=5MB,pp=90MB"]
    made = topoloom("ai", "axes", *words, "-m", MACHINE, "-o", "x.json",
                    "--write-graph", "p.npz")  # fmt: skip
    assert made.status == 0, made.err
    written = topoloom("export", "x.json", "--to", "torchrun-script", "--hosts",
                       "a,b,c,d", "-o", "job.sh")  # fmt: skip
    assert written.status == 0, written.err
    assert "only static rendezvous numbers hosts by --node-rank" in written.err
    Path("torchrun.py").write_text(TORCHRUN)
    Path("torchrun").write_text(f'exec {sys.executable} torchrun.py "$@"\n')
    Path("torchrun").chmod(0o755)
    Path("train.py").write_text("")
    Path("all.sh").write_text(
        "for host in a b c d; do\n"
        '    SLURMD_NODENAME=$host.cluster sh job.sh sh "$@" || exit 3\n'
        "done\n"
    )
    return ["--", "sh", "all.sh", "torchrun", "train.py"]


def test_the_script_starts_ranks_at_their_placement(topoloom: Command) -> None:
    command = prepare_job(topoloom)
    found = topoloom("verify", "x.json", "--hosts", "a,b,c,d", *command)
    assert "all 8 ranks are where they are planned" in found.err
    assert found.status == 0


def test_programs_can_import_their_own_sitecustomize(
    topoloom: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = prepare_job(topoloom)
    Path("own").mkdir()
    Path("own/sitecustomize.py").write_text("mine = 3\n")
    monkeypatch.setenv("PYTHONPATH", str(Path("own").absolute()))
    Path("train.py").write_text(
        "import sitecustomize\nassert sitecustomize.mine == 3\n"
    )
    found = topoloom("verify", "x.json", "--hosts", "a,b,c,d", *command)
    assert found.status == 0
    assert "all 8 ranks are where they are planned" in found.err


def test_ranks_on_other_hosts_are_named_and_cost_more(topoloom: Command) -> None:
    command = prepare_job(topoloom)
    other = topoloom("verify", "x.json", "--hosts", "a,c,b,d", *command)
    assert other.status == 1
    lines = other.err.splitlines()
    assert sum(line.startswith("rank ") for line in lines) == 4
    assert any("4 of 8 ranks are not where they are planned" in line for line in lines)
    (cost,) = (line for line in lines if line.startswith("topoloom: predicted time "))
    assert cost.split()[4].rstrip(",") in ("s", "ms")
    shown = topoloom("verify", "x.json", "--hosts", "a,c,b,d", "--json", *command)
    document = check_document(shown.err.splitlines()[-1])
    assert document["measure"] == "predicted_seconds"
    assert document["started"] > document["planned"]


@pytest.mark.parametrize(
    "option", [["--rdzv-backend", "c10d"], ["--rdzv_backend=etcd-v2"]]
)
def test_a_rendezvous_that_sorts_hosts_is_refused(
    topoloom: Command, option: list[str]
) -> None:
    prepare_job(topoloom)
    refused = topoloom("verify", "x.json", "--hosts", "a,b,c,d", "--", "torchrun",
                       *option, "train.py")  # fmt: skip
    assert refused.status == 2
    assert "c10d and etcd sort them by their addresses" in refused.err
    script = ["sh", "job.sh", "torchrun", *option, "train.py"]
    started = topoloom("verify", "x.json", "--hosts", "a,b,c,d", "--", *script)
    assert "c10d and etcd sort them by their addresses" in started.err
    assert started.status == 2


def test_fewer_ranks_than_planned_are_reported(topoloom: Command) -> None:
    command = prepare_job(topoloom)
    Path("all.sh").write_text('SLURMD_NODENAME=a sh job.sh sh "$@"\n')
    found = topoloom("verify", "x.json", "--hosts", "a,b,c,d", *command)
    assert found.status == 2
    assert "the job started 2 ranks, but the placement is for 8" in found.err


@pytest.mark.parametrize(
    "option",
    [
        ["--node_rank=5"],
        ["--node-rank", "5"],
        ["--nnodes", "1:4"],
        ["--nproc_per_node=2"],
    ],
)
def test_the_script_refuses_options_that_would_override_it(
    topoloom: Command, option: list[str]
) -> None:
    prepare_job(topoloom)
    words = ["env", "SLURMD_NODENAME=a", "sh", "job.sh"]
    script = [*words, "sh", "torchrun", *option, "train.py"]
    refused = subprocess.run(script, capture_output=True, text=True, timeout=600)
    assert refused.returncode == 2
    assert f"leave out {option[0]}" in refused.stderr
    program = [*words, "echo", "torchrun", "train.py", *option]
    assert subprocess.run(program, capture_output=True, timeout=600).returncode == 0


def test_the_script_without_a_command_fails_with_a_message(
    topoloom: Command,
) -> None:
    prepare_job(topoloom)
    words = ["env", "SLURMD_NODENAME=a", "sh", "job.sh"]
    alone = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert alone.returncode == 2
    assert "nothing to start" in alone.stderr


def verify_with_torchrun(topoloom: Command, replacement: str) -> Outcome:
    """Verify a run of the stub `TORCHRUN` with a changed text."""
    command = prepare_job(topoloom)
    Path("torchrun.py").write_text(TORCHRUN.replace("children =", replacement, 1))
    return topoloom("verify", "x.json", "--hosts", "a,b,c,d", *command)


def test_ranks_on_unknown_hosts_are_named(topoloom: Command) -> None:
    found = verify_with_torchrun(topoloom, "node += 4\nchildren =")
    assert found.status == 2
    assert "started the ranks 8-15, but the placement is for 0-7" in found.err


def test_ranks_without_gpus_are_reported_as_misplaced(topoloom: Command) -> None:
    found = verify_with_torchrun(
        topoloom, 'os.environ["CUDA_VISIBLE_DEVICES"] = ""\nchildren ='
    )
    assert found.status == 1
    assert "rank 0 is on a.cluster, without a GPU; planned: a, GPU 0" in found.err


def test_unknown_gpu_uuids_are_reported_as_not_compared(
    topoloom: Command,
) -> None:
    uuids = 'os.environ["CUDA_VISIBLE_DEVICES"] = "GPU-8932f937,GPU-46abccf3"'
    found = verify_with_torchrun(topoloom, f"{uuids}\nchildren =")
    assert found.status == 0
    assert "UUIDs name the GPUs of 8 ranks" in found.err
    assert "rocminfo said their numbers; only their hosts were compared" in found.err


def test_torchrun_can_be_in_a_shell_command(topoloom: Command) -> None:
    prepare_job(topoloom)
    line = "sh all.sh torchrun train.py"
    found = topoloom("verify", "x.json", "--hosts", "a,b,c,d", "--", "sh", "-c", line)
    assert "all 8 ranks are where they are planned" in found.err


def test_a_mesh_with_scattered_ranks_is_refused_with_a_remedy(
    topoloom: Command,
) -> None:
    words = ["--mesh", "tp=2,dp=4", "--traffic", "tp=1MB,dp=1GB"]
    machine = "tree:2:2,bandwidth=50GB/s:10GB/s+node:2"
    topoloom("ai", "axes", *words, "-m", machine, "-o", "y.json")
    refused = topoloom("export", "y.json", "--to", "torchrun", "--hosts", "a,b,c,d")
    assert refused.status == 2
    assert "'topoloom ai axes --framework NAME --to name -o FILE'" in refused.err


SEEN = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-8932f937-d72c-4106-c12f-20bd9faed9f6)
  MIG 3g.40gb     Device  0: (UUID: MIG-7d217fa2-5e31-5d91-b0f4-03b7d5fc1b79)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-46abccf3-a70c-4bf6-9d33-7a1aa0bb4e11)
"""


@pytest.fixture
def fake_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add an nvidia-smi with two GPUs, one of them with a MIG instance, to PATH."""
    tool = tmp_path / "tools" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\ncat <<END\n{SEEN}END\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")


@pytest.mark.usefixtures("fake_nvidia_smi")
def test_gpu_uuids_are_compared_by_gpu_numbers(topoloom: Command) -> None:
    """A prefix of its UUID names a GPU, and a MIG instance counts as its GPU."""
    uuids = 'os.environ["CUDA_VISIBLE_DEVICES"] = "MIG-7d217fa2,GPU-46abccf3"'
    found = verify_with_torchrun(topoloom, f"{uuids}\nchildren =")
    assert "all 8 ranks are where they are planned" in found.err
    assert found.status == 0
    other = 'os.environ["CUDA_VISIBLE_DEVICES"] = "GPU-46abccf3,GPU-8932f937"'
    found = verify_with_torchrun(topoloom, f"{other}\nchildren =")
    assert found.status == 1
    assert (
        "rank 0 is on a.cluster, GPU 1 (GPU-46abccf3-a70c-4bf6-9d33-7a1aa0bb4e11); "
        "planned: a, GPU 0" in found.err
    )


TORCH = """\
from types import SimpleNamespace
cuda = SimpleNamespace(
    is_initialized=lambda: True,
    current_device=lambda: 1,
    get_device_properties=lambda _: SimpleNamespace(
        uuid="46abccf3-a70c-4bf6-9d33-7a1aa0bb4e11"
    ),
)
"""


@pytest.mark.usefixtures("fake_nvidia_smi")
def test_the_gpu_of_a_rank_is_the_gpu_used_by_pytorch(topoloom: Command) -> None:
    """The program uses GPU 1 regardless of LOCAL_RANK."""
    command = prepare_job(topoloom)
    Path("torch.py").write_text(TORCH)
    Path("train.py").write_text("import torch\n")
    words = ["x.json", "--hosts", "a,b,c,d", *command]
    found = topoloom("verify", *words)
    assert found.status == 1
    assert "4 of 8 ranks are not where they are planned" in found.err
    document = check_document(topoloom("verify", "--json", *words).err)
    assert all(one["used"] and one["gpu"] == "1" for one in document["gpus"])
    assert document["gpus"][0]["uuid"] == "GPU-46abccf3-a70c-4bf6-9d33-7a1aa0bb4e11"


def test_a_job_without_torchrun_is_verified_with_the_torch_option(
    topoloom: Command,
) -> None:
    """The launcher numbers ranks, and makes one GPU visible to each of them."""
    prepare_job(topoloom)
    Path("each.sh").write_text(
        "for rank in 0 1 2 3 4 5 6 7; do\n"
        "    host=$(echo a c b d | cut -d ' ' -f $((rank / 2 + 1)))\n"
        "    SLURM_PROCID=$rank SLURM_LOCALID=$((rank % 2)) SLURMD_NODENAME=$host \\\n"
        f"    CUDA_VISIBLE_DEVICES=$((rank % 2)) {sys.executable} train.py || exit 3\n"
        "done\n"
    )
    words = ["x.json", "--hosts", "a,b,c,d", "--", "sh", "each.sh"]
    found = topoloom("verify", "--torch", *words)
    assert "all 8 ranks are where they are planned" in found.err
    assert found.status == 0
    nothing = topoloom("verify", "--torch", *words[:-2], "true")
    assert nothing.status == 2
    assert "no rank wrote a report" in nothing.err
