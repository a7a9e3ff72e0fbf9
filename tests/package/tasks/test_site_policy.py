# SPDX-License-Identifier: BSD-3-Clause
"""The policy of a centre, and launches that a job has accepted."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from topoloom import Error
from topoloom.tasks.runs.accepted_launch import find_accepted_launch
from topoloom.tasks.runs.run_log import RunLog
from topoloom.tasks.runs.site_policy import (
    PARTITIONS,
    find_partition,
    is_switched_off,
    load_policy,
)


def test_a_policy_names_the_machines_of_partitions(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('store = "/s"\n[partition.a]\nmachine = "detect"\n')
    policy = load_policy(file)
    assert policy.store == Path("/s")
    assert policy.machines == {"a": "detect"}


def test_relative_paths_start_at_the_folder_of_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, job = tmp_path / "site", tmp_path / "job"
    folder.mkdir()
    job.mkdir()
    (folder / "m.toml").write_text("")
    machines = {"a": "m.toml", "b": "m.toml+down:n4", "c": "torus:4x4", "d": "detect"}
    tables = [f'[partition.{at}]\nmachine = "{each}"' for at, each in machines.items()]
    (folder / "policy.toml").write_text("\n".join(['store = "runs"', *tables]))
    monkeypatch.chdir(job)
    policy = load_policy(Path("../site/policy.toml"))
    assert policy.store == Path("../site/runs")
    beside = {"a": "../site/m.toml", "b": "../site/m.toml+down:n4"}
    assert policy.machines == machines | beside


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "unknown key 'x'; known are store, partition"),
        ("store = 1", "store is a path, and partition a table"),
        ("[partition.a]", "partition a has no machine"),
        ('[partition.a]\nmachine = "m"\nb = 1', "partition a: unknown key 'b'"),
        ("[", "not TOML"),
    ],
)
def test_a_wrong_policy_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(Error, match=message):
        load_policy(file)


def test_the_partition_and_the_switch_are_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in PARTITIONS:
        monkeypatch.delenv(name, raising=False)
    assert find_partition() is None
    monkeypatch.setenv("PBS_QUEUE", "long")
    assert find_partition() == "long"
    assert not is_switched_off()
    monkeypatch.setenv("TOPOLOOM", "off")
    assert is_switched_off()


def test_a_launch_is_accepted_for_one_job_and_its_libraries(tmp_path: Path) -> None:
    def find(batch_job: str | None, host: str) -> Any:
        log = RunLog(tmp_path, {"job": batch_job}, pytest.fail)
        allocated = SimpleNamespace(hosts=[host])
        slots: Any = SimpleNamespace(
            allocated=allocated, cores_per_slot=1, cores_per_rank=1, bind=None
        )
        job: Any = SimpleNamespace(program=["sh", "-c", ":"])
        return find_accepted_launch(log, job, slots, "placement.json")

    libraries = [Path("/x.so")]
    launch = find("7", "n1")
    assert not launch.is_known(libraries)
    launch.remember(libraries, True)
    assert find("7", "n1").is_known(libraries)
    assert not find("7", "n1").is_known([])
    assert not find("8", "n1").is_known(libraries)
    assert not find("7", "n2").is_known(libraries)
    launch.remember(libraries, False)
    assert not find("7", "n1").is_known(libraries)
    assert find(None, "elsewhere") is None
    assert find(None, "localhost") is not None
