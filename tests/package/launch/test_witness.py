# SPDX-License-Identifier: BSD-3-Clause
"""What a witness reports, and that no trouble with it keeps a program from running."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from topoloom import Error, Machine
from topoloom.cli.run_output import note_unverified
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.launch.launcher import Launch
from topoloom.preload.verify import Proof, Witness, witness as witness_module
from topoloom.preload.verify.proof import Seen
from topoloom.tasks.verified_run import find_witness, run_witnessed

HEAD = "# topoloom-verify 1: rank host cpus cpu verdict\n"


def placed(host: str) -> HostPlacement:
    return host_placement(Machine("mesh:1+node:2"), [0], [0, 1], [host])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def witness(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Witness]:
    """Make a witness whose reports we write ourselves."""
    monkeypatch.setattr(witness_module, "build_shim", lambda *_, **__: Path("none.so"))
    made = Witness(placed("n1"), ["mpirun.mpich", "-n", "2", "./app"])
    yield made
    made.close()


def report(name: str, ranks: int, host: str = "n1") -> Path:
    [folder] = Path().glob(".topoloom-verify-*")
    lines = (f"{rank} {host} 0 0 ok \n" for rank in range(ranks))
    (folder / f".{name}").write_text(HEAD + "".join(lines))
    return (folder / f".{name}").rename(folder / f"report-{name}")


def test_each_program_is_listed_once_in_order_of_starts(witness: Witness) -> None:
    told: list[int] = []
    came = threading.Semaphore(0)

    def tell(proof: Proof) -> None:
        told.append(len(proof.seen))
        came.release()

    with witness.telling(tell):
        for name, ranks in (("n1-9000", 2), ("n1-10000", 3)):
            report(name, ranks)
            assert came.acquire(timeout=600)
    assert told == [2, 3]
    assert [len(proof.seen) for proof in witness.proofs] == [2, 3]


def test_a_report_is_read_once(
    witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []
    read = witness_module.read_proof

    def counted(file: Path, placed: HostPlacement) -> Proof:
        reads.append(file)
        return read(file, placed)

    monkeypatch.setattr(witness_module, "read_proof", counted)
    with witness.telling(lambda _: None):
        expected = [report("n1-1", 2)]
    with witness.telling(lambda _: None):
        pass
    assert [file.resolve() for file in expected] == [file.resolve() for file in reads]


@pytest.mark.parametrize("line", ["0 n1 0\n", "1 n1 0 0 ok \n", "0 n1 0 x ok \n"])
def test_a_damaged_report_leaves_the_exit_status(
    witness: Witness, line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    report("n1-1", 0).write_text(HEAD + line)
    witness.watched = lambda launch: launch  # type: ignore[method-assign]
    account = run_witnessed(Launch(["sh", "-c", "exit 7"]), witness, print)
    assert account.status == 7
    assert not account.holds
    assert account.why == "report-n1-1 is damaged at rank 0"
    note_unverified(account)
    said = "topoloom: not verified: report-n1-1 is damaged at rank 0\n"
    assert capfd.readouterr().err == said


def test_a_report_that_another_node_made_may_come_late(witness: Witness) -> None:
    late = threading.Timer(0.5, report, ("n1-1", 2))
    told: list[Proof] = []
    with witness.telling(told.append):
        late.start()
    late.join()
    assert len(told) == 1


def test_without_a_cache_the_program_runs_unseen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nope")
    command = ["mpirun.mpich", "-n", "2", "true"]
    with find_witness(placed("n1"), command, None, renumber=False) as why:
        assert isinstance(why, str)
        assert "cannot write into /proc/nope/topoloom: " in why
    with (
        pytest.raises(Error, match="XDG_CACHE_HOME"),
        find_witness(placed("n1"), command, None, renumber=True),
    ):
        pass


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("n1", "the only rank is on the planned hosts (1)"),
        ("10.0.0.1", "hosts planned by their addresses are not compared"),
    ],
)
def test_only_hosts_with_names_are_praised(host: str, words: str) -> None:
    one = host_placement(Machine("mesh:1+node:2"), [0], [0], [host])
    proof = Proof(one, [Seen("n1", "0", 0, "ok", "")])
    assert proof.words().startswith(words)
