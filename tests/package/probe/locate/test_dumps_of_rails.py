# SPDX-License-Identifier: BSD-3-Clause
"""NCCL Inspector dumps identify the slow GPU, NIC, host or rail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspector_job import GPUS, RailClusterJob

from topoloom import Error, Machine
from topoloom.graphs.traces.trace_formats import IncompleteTraceError
from topoloom.machines.machine_writers import save_machine
from topoloom.tasks.machines.bad_parts import locate_bad_parts


@pytest.fixture
def cluster_file(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.toml"
    save_machine(
        file, Machine("rails:8:16:1"), [f"gpu-{n // GPUS:02}" for n in range(16 * GPUS)]
    )
    return file


def find_bad_parts(
    cluster: Path, folder: Path, partial: bool = False
) -> list[list[str]]:
    """Return the parts that are certainly bad."""
    found = locate_bad_parts(cluster, [folder], partial=partial).found
    return [part.parts for part in found.bad if part.sure]


NIC = "NIC or cable of gpu-05 GPU 3 to unit 0 rail 3"


@pytest.mark.parametrize(
    ("job", "parts"),
    [
        (RailClusterJob(), []),
        (RailClusterJob(nics={(5, 3): 2.0}), [[NIC]]),
        (RailClusterJob(gpus={(5, 3): 1.6}), [["gpu-05 GPU 3"]]),
        (RailClusterJob(hosts={5: 3.0}), [["host gpu-05"]]),
        (RailClusterJob(network_sides={5: 2.0}), [["what the NICs of gpu-05 share"]]),
        (RailClusterJob(rails={3: 2.0}), [["switch unit 0 rail 3"]]),
        (
            RailClusterJob(nics={(5, 3): 2.0}, hosts={10: 3.0}),
            [[NIC], ["host gpu-10"]],
        ),
    ],
    ids=["nothing", "NIC", "GPU", "host", "network side", "rail", "NIC and host"],
)
def test_the_slow_part_of_a_rail_cluster_is_named(
    cluster_file: Path, tmp_path: Path, job: RailClusterJob, parts: list[list[str]]
) -> None:
    job.write_dumps(tmp_path / "dumps")
    assert sorted(find_bad_parts(cluster_file, tmp_path / "dumps")) == sorted(parts)


def test_two_nics_of_a_host_and_names_with_a_domain_are_read(
    cluster_file: Path, tmp_path: Path
) -> None:
    job = RailClusterJob(
        nics={(5, 3): 2.0, (5, 4): 3.0}, name="gpu-{:02}.cluster.local".format
    )
    job.write_dumps(tmp_path / "dumps")
    assert find_bad_parts(cluster_file, tmp_path / "dumps") == [
        [NIC],
        [NIC.replace("3", "4")],
    ]


def test_gpus_of_a_process_are_distinguished_only_within_one_communicator(
    cluster_file: Path, tmp_path: Path
) -> None:
    slow = RailClusterJob(nics={(5, 3): 2.0}, hosts={10: 2.0}, one_process=True)
    slow.write_dumps(tmp_path / "dumps")
    found = locate_bad_parts(cluster_file, [tmp_path / "dumps"])
    assert "32 communicators left out: some GPUs of a process" in found.doubts[0]
    # Messages identify GPUs, because the world communicator lists all GPUs.
    assert find_bad_parts(cluster_file, tmp_path / "dumps") == [["host gpu-10"], [NIC]]


def test_process_ids_order_gpus_without_a_host_communicator(
    cluster_file: Path, tmp_path: Path
) -> None:
    RailClusterJob(rails={3: 2.0}).write_dumps(tmp_path / "dumps")
    for file in (tmp_path / "dumps").iterdir():
        lines = file.read_text().splitlines()
        kept = [line for line in lines if '"n_ranks": 4' in line]
        file.write_text("\n".join(kept) + "\n")
    found = locate_bad_parts(cluster_file, [tmp_path / "dumps"])
    assert found.doubts == [
        "no communicator has all GPUs of gpu-00, gpu-01, gpu-02 and 13 other hosts: "
        "they are taken in the order of process ids"
    ]
    (bad,) = found.found.bad
    assert bad.parts == ["switch unit 0 rail 1"]  # 3 * 3 % 8


def test_truncated_or_foreign_dumps_require_the_partial_option(
    topoloom: Any, cluster_file: Path, tmp_path: Path
) -> None:
    dumps = tmp_path / "dumps"
    RailClusterJob(nics={(5, 3): 2.0}).write_dumps(dumps)
    files = sorted(dumps.iterdir())
    files[7].write_text(files[7].read_text()[:-60])
    (dumps / "slurm.out").write_text("srun: job 7\nstep 1: loss 2.71\nstep 2\n")
    words = ("machine", "check", cluster_file, "--measured", dumps)
    output = topoloom(*words)
    assert output.status == 2
    assert output.err.count("\n") == 1
    assert "slurm.out:1: is not a line of the Inspector" in output.err
    (dumps / "slurm.out").unlink()
    output = topoloom(*words)
    assert output.status == 2
    assert f"{files[7].name}:" in output.err
    assert "is truncated; --partial uses the readable part" in output.err
    (dumps / "slurm.out").write_text("srun: job 7\n\x00\xff\nstep 2\n")
    output = topoloom(*words, "--partial")
    assert output.status == 1
    assert output.out.startswith(f"{NIC}: messages take 2.0")
    assert "is truncated" in output.out


def test_dumps_with_missing_ranks_require_the_partial_option(
    cluster_file: Path, tmp_path: Path
) -> None:
    dumps = tmp_path / "dumps"
    RailClusterJob(nics={(5, 3): 2.0}).write_dumps(dumps)
    for file in dumps.glob("gpu-15-*"):
        file.unlink()
    with pytest.raises(
        IncompleteTraceError,
        match=r"communicator 0x\w+ lacks 1 of 4 ranks; .*; and 6 more",
    ):
        locate_bad_parts(cluster_file, [dumps])
    assert find_bad_parts(cluster_file, dumps, partial=True) == [[NIC]]


def test_files_of_two_jobs_are_refused(cluster_file: Path, tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    RailClusterJob().write_dumps(dumps)
    other = (dumps / "gpu-03-pid4001.log").read_text().replace("4001", "5001")
    (dumps / "gpu-03-pid5001.log").write_text(other)
    with pytest.raises(Error, match=r"is process .* of gpu-03; pass the files of one"):
        locate_bad_parts(cluster_file, [dumps])
    wide = tmp_path / "small.toml"
    names = [f"gpu-{n // 4:02}" for n in range(64)]
    save_machine(wide, Machine("rails:4:16:1"), names)
    RailClusterJob().write_dumps(tmp_path / "again")
    with pytest.raises(Error, match="gpu-00 has 8 ranks in these files and 4 GPUs"):
        locate_bad_parts(wide, [tmp_path / "again"])


@pytest.mark.parametrize(
    ("job", "part"),
    [
        (RailClusterJob(hosts={5: 2.0}), "host gpu-05"),
        (RailClusterJob(network_sides={5: 2.0}), "cable gpu-05 up"),
    ],
    ids=["host", "cable"],
)
def test_intra_node_traffic_distinguishes_slow_hosts_from_cables(
    tmp_path: Path, job: RailClusterJob, part: str
) -> None:
    file = tmp_path / "tree.toml"
    save_machine(file, Machine("tree:4:4"), [f"gpu-{n:02}" for n in range(16)])
    job.write_dumps(tmp_path / "dumps")
    assert find_bad_parts(file, tmp_path / "dumps") == [[part]]


def test_noise_and_few_calls_blame_no_good_part(
    cluster_file: Path, tmp_path: Path
) -> None:
    job = replace(RailClusterJob(nics={(5, 3): 2.0}), noise=0.05, times=4)
    job.write_dumps(tmp_path / "dumps")
    assert find_bad_parts(cluster_file, tmp_path / "dumps") == [[NIC]]
    replace(job, nics={}).write_dumps(tmp_path / "good")
    assert find_bad_parts(cluster_file, tmp_path / "good") == []
