# SPDX-License-Identifier: BSD-3-Clause
"""Affinity reports are read and printed; a failed report never stops a program."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from topoloom import Error, Machine
from topoloom.cli.output.run import note_unverified
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.launch.launcher import Launch
from topoloom.preload.verify import AffinityReport, VerifyAgent, verify_agent
from topoloom.preload.verify.affinity_report import RankAffinity
from topoloom.tasks.verified_run import run_verified, start_verify_agent

HEAD = "# topoloom-verify 1: rank host cpus cpu verdict\n"


def make_placement(host: str) -> HostPlacement:
    return host_placement(Machine("mesh:1+node:2"), [0], [0, 1], [host])


@pytest.fixture
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def verify_agent_job(
    working_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[VerifyAgent]:
    """Create an agent; the test writes its reports."""
    monkeypatch.setattr(verify_agent, "build_shim", lambda *_, **__: Path("none.so"))
    made = VerifyAgent(make_placement("n1"), ["mpirun.mpich", "-n", "2", "./app"])
    yield made
    made.close()


def write_report(name: str, ranks: int, host: str = "n1") -> Path:
    [folder] = Path().glob(".topoloom-verify-*")
    lines = (f"{rank} {host} 0 0 ok \n" for rank in range(ranks))
    (folder / f".{name}").write_text(HEAD + "".join(lines))
    return (folder / f".{name}").rename(folder / f"report-{name}")


def test_each_program_is_reported_once_in_order_of_start(
    verify_agent_job: VerifyAgent,
) -> None:
    counts: list[int] = []
    came = threading.Semaphore(0)

    def record_report(found: AffinityReport) -> None:
        counts.append(len(found.ranks))
        came.release()

    with verify_agent_job.watch_reports(record_report):
        for name, ranks in (("n1-9000", 2), ("n1-10000", 3)):
            write_report(name, ranks)
            assert came.acquire(timeout=600)
    assert counts == [2, 3]
    assert [len(found.ranks) for found in verify_agent_job.reports] == [2, 3]


def test_a_report_is_read_once(
    verify_agent_job: VerifyAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []
    read = verify_agent.read_report

    def count_reads(file: Path, placement: HostPlacement) -> AffinityReport:
        reads.append(file)
        return read(file, placement)

    monkeypatch.setattr(verify_agent, "read_report", count_reads)
    with verify_agent_job.watch_reports(lambda _: None):
        expected = [write_report("n1-1", 2)]
    with verify_agent_job.watch_reports(lambda _: None):
        pass
    assert [file.resolve() for file in expected] == [file.resolve() for file in reads]


@pytest.mark.parametrize("line", ["0 n1 0\n", "1 n1 0 0 ok \n", "0 n1 0 x ok \n"])
def test_a_damaged_report_leaves_the_exit_status(
    verify_agent_job: VerifyAgent, line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write_report("n1-1", 0).write_text(HEAD + line)
    verify_agent_job.preload_into = lambda launch: launch  # type: ignore[method-assign]
    account = run_verified(Launch(["sh", "-c", "exit 7"]), verify_agent_job, print)
    assert account.status == 7
    assert not account.is_verified
    assert account.why == "report-n1-1 is damaged at rank 0"
    note_unverified(account)
    warning = "topoloom: not verified: report-n1-1 is damaged at rank 0\n"
    assert capfd.readouterr().err == warning


def test_late_reports_of_other_nodes_are_read(verify_agent_job: VerifyAgent) -> None:
    late = threading.Timer(0.5, write_report, ("n1-1", 2))
    reports: list[AffinityReport] = []
    with verify_agent_job.watch_reports(reports.append):
        late.start()
    late.join()
    assert len(reports) == 1


def test_without_a_cache_the_program_runs_without_verification(
    working_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nope")
    command = ["mpirun.mpich", "-n", "2", "true"]
    with start_verify_agent(make_placement("n1"), command, None, renumber=False) as why:
        assert isinstance(why, str)
        assert "cannot write into /proc/nope/topoloom: " in why
    with (
        pytest.raises(Error, match="XDG_CACHE_HOME"),
        start_verify_agent(make_placement("n1"), command, None, renumber=True),
    ):
        pass


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("n1", "the only rank is on the planned hosts (1)"),
        ("10.0.0.1", "hosts planned by their addresses are not compared"),
    ],
)
def test_host_names_are_confirmed_only_if_known(host: str, words: str) -> None:
    one = host_placement(Machine("mesh:1+node:2"), [0], [0], [host])
    found = AffinityReport(one, [RankAffinity("n1", "0", 0, "ok", "")])
    assert found.describe().startswith(words)
