# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom record` of PyTorch programs, with a stub that moves no data.

PyTorch is too large to install for a test; `make bench-ai ARGS='--only recorder'` uses
the real PyTorch. The stub has the parts of PyTorch's dispatcher that the recorder uses.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import KINDS, load_profile

if TYPE_CHECKING:
    from tests.conftest import Command

DOUBLE = Path(__file__).resolve().parents[1] / "torch_double"

MAIN = "from topoloom.cli import main; main()"

BEGIN = """\
import os, signal, sys
import torch
import torch.distributed as dist
from torch import Tensor
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
"""


@pytest.fixture(autouse=True)
def torch_stub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let programs import the stub, and a sitecustomize of the user."""
    (tmp_path / "sitecustomize.py").write_text(
        "import builtins\nbuiltins.ours = mine = 3\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{DOUBLE}")


def write_torchrun_job(program: str, ranks: int | str = 4) -> list[str]:
    """Write a program and return the command that starts its ranks."""
    Path("train.py").write_text(BEGIN + program)
    return ["--", sys.executable, str(DOUBLE / "torchrun"), str(ranks), "train.py"]


def write_single_process(program: str) -> list[str]:
    Path("train.py").write_text(BEGIN + program)
    return ["--", sys.executable, "train.py"]


def load_calls(file: str = "p.npz") -> dict[tuple[str, tuple[int, ...], int, int], int]:
    """Map (operation, members, root, bytes) to the number of calls in a recording."""
    profile = load_profile(file)
    return {
        (OPERATIONS[o], tuple(profile.communicators[c].tolist()), root, size): count
        for _, o, c, root, size, count in profile.records.tolist()
    }


def load_messages(kind: str) -> dict[tuple[int, int], tuple[int, int]]:
    """Map each pair of ranks to its bytes and messages of one kind."""
    traffic = load_profile("p.npz").traffic.tolist()
    return {(s, t): (b, n) for _, k, s, t, b, n, _ in traffic if KINDS[k] == kind}


def test_calls_of_a_job_are_counted(topoloom: Command) -> None:
    done = topoloom("record", "-o", "p.npz", *write_torchrun_job("""\
import builtins, sitecustomize
assert builtins.ours == sitecustomize.mine == 3
pairs = [dist.new_group([0, 2]), dist.new_group([1, 3])]
for _ in range(5):
    dist.all_reduce(Tensor(10, 2))
dist.broadcast(Tensor(7), 2 + rank % 2, pairs[rank % 2])
dist.all_gather_into_tensor(Tensor(24), Tensor(12), pairs[rank % 2])
dist.send(Tensor(100 + rank), (rank + 1) % world)
dist.recv(Tensor(100), (rank - 1) % world)
dist.barrier()
dist.destroy_process_group()
"""))  # fmt: skip
    assert (done.status, done.out) == (0, ""), "stdout is the program's"
    assert "  written  " in done.err
    assert "topoloom: " not in done.err
    everyone = (0, 1, 2, 3)
    assert load_calls() == {
        ("allreduce", everyone, -1, 20): 5,
        ("bcast", (0, 2), 1, 28): 1,
        ("bcast", (1, 3), 1, 28): 1,
        ("allgather", (0, 2), -1, 48): 1,
        ("allgather", (1, 3), -1, 48): 1,
        ("barrier", everyone, -1, 0): 1,
    }
    assert load_messages("send") == {
        (rank, (rank + 1) % 4): (400 + 4 * rank, 1) for rank in everyone
    }


def test_uneven_exchanges_are_counted_by_pair(topoloom: Command) -> None:
    """Some ranks send equal parts; a later exchange is even, with another size."""
    done = topoloom("record", "-o", "p.npz", *write_torchrun_job("""\
rows = [[3, 3, 3], [1, 0, 2], [4, 4, 4]]
go, come = rows[rank], [row[rank] for row in rows]
for _ in range(2):
    dist.all_to_all_single(Tensor(2 * sum(come)), Tensor(2 * sum(go)), come, go)
dist.all_to_all_single(Tensor(6), Tensor(6))
""", 3))  # fmt: skip
    assert (done.status, done.out) == (0, ""), "stdout is the program's"
    assert "  written  " in done.err
    assert "topoloom: " not in done.err
    assert load_calls() == {("alltoall", (0, 1, 2), -1, 8): 1}
    rows = {(0, 1): 3, (0, 2): 3, (1, 0): 1, (1, 2): 2, (2, 0): 4, (2, 1): 4}
    assert load_messages("direct") == {pair: (16 * n, 2) for pair, n in rows.items()}


def test_counts_of_killed_ranks_are_saved(topoloom: Command) -> None:
    done = topoloom("record", "-o", "p.npz", *write_torchrun_job("""\
for _ in range(3):
    dist.all_reduce(Tensor(10))
os.kill(os.getpid(), signal.SIGKILL)
"""))  # fmt: skip
    assert done.status == 1
    assert "the command ended with status 1; the file contains" in done.err
    assert load_calls() == {("allreduce", (0, 1, 2, 3), -1, 40): 3}


def test_ranks_without_counts_are_named(topoloom: Command) -> None:
    Path("train.py").write_text(
        "import os, sys\nif os.environ['RANK'] == '2': sys.exit(3)\n" + BEGIN
    )
    command = [sys.executable, str(DOUBLE / "torchrun"), "4", "train.py"]
    done = topoloom("record", "-o", "p.npz", "--", *command)
    assert done.status == 1
    assert "no data from rank 2" in done.err
    assert "ranks have no trace" not in done.err


def test_ctrl_c_ends_the_job_and_keeps_its_counts(topoloom: Command) -> None:
    command = write_torchrun_job("""\
import time
dist.all_reduce(Tensor(10))
os.write(1, b"counted\\n")
time.sleep(600)
""", 2)  # fmt: skip
    job = subprocess.Popen(
        [sys.executable, "-c", MAIN, "record", "-o", "p.npz", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert job.stdout is not None
        for _ in range(2):
            assert job.stdout.readline() == "counted\n"
        job.send_signal(signal.SIGINT)
        _, errors = job.communicate(timeout=600)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
    assert job.returncode == 130, errors
    assert "the command ended with status 130" in errors
    assert load_calls() == {("allreduce", (0, 1), -1, 40): 1}


def test_only_the_last_start_of_a_restarted_job_counts(
    topoloom: Command,
) -> None:
    done = topoloom("record", "-o", "p.npz", *write_torchrun_job("""\
dist.all_reduce(Tensor(10))
attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
if attempt < 2:
    os._exit(attempt + rank)
dist.destroy_process_group()
dist.init_process_group("gloo")
dist.all_reduce(Tensor(10))
""", "4+3"))  # fmt: skip
    assert done.status == 0
    assert "8 earlier starts of ranks left out: torchrun started the job" in done.err
    assert load_calls() == {("allreduce", (0, 1, 2, 3), -1, 40): 2}


def test_a_last_start_that_fails_before_its_world_is_reported(
    topoloom: Command,
) -> None:
    command = write_torchrun_job("dist.barrier()\nos._exit(1)", "2+2")
    train = Path("train.py")
    train.write_text(
        "import os\n"
        'if os.environ["TORCHELASTIC_RESTART_COUNT"] != "0":\n'
        "    os._exit(1)\n" + train.read_text()
    )
    done = topoloom("record", "-o", "p.npz", *command)
    assert done.status == 1
    (line,) = (line for line in done.err.splitlines() if "again" in line)
    assert "again 2 times without beginning a world; the start before counts" in line
    assert load_calls() == {("barrier", (0, 1), -1, 0): 1}


def test_a_job_that_fails_early_does_not_overwrite_an_existing_file(
    topoloom: Command,
) -> None:
    good = write_single_process("dist.barrier()\n")
    assert topoloom("record", "-o", "p.npz", "--world-size", 8, *good).status == 0
    before = Path("p.npz").read_bytes()
    failing = write_single_process("sys.exit(3)\n")
    done = topoloom("record", "-o", "p.npz", "--world-size", 8, *failing)
    assert done.status == 3
    assert "(exit status 3) before it sent anything; p.npz is not" in done.err
    assert Path("p.npz").read_bytes() == before


def test_two_jobs_in_a_command_are_refused(topoloom: Command) -> None:
    _, *words = write_torchrun_job("dist.barrier()", 2)
    job = shlex.join(words)
    done = topoloom("record", "-o", "p.npz", "--", "sh", "-c", f"{job}; {job}")
    assert done.status
    assert "twice, as two jobs would; record each job separately" in done.err  # 0 or 1
    assert not [*Path().glob("*topoloom*"), *Path().glob("*.npz")]


def test_launchers_other_than_torchrun_require_the_torch_option(
    topoloom: Command,
) -> None:
    Path("spawn.py").write_text("""\
import os, subprocess, sys
for rank in "01":
    subprocess.run([sys.executable, "train.py"], env={**os.environ, "RANK": rank})
""")
    write_single_process("dist.barrier()")
    command = ["--", "env", "WORLD_SIZE=2", sys.executable, "spawn.py"]
    done = topoloom("record", "--torch", "-o", "p.npz", *command)
    assert (done.status, done.out) == (0, ""), "stdout is the program's"
    assert "  written  " in done.err
    assert "topoloom: " not in done.err
    assert load_calls() == {("barrier", (0, 1), -1, 0): 1}
    both = topoloom("record", "--torch", "--nccl", "-o", "p.npz", *command)
    assert "--torch and --nccl select different recorders" in both.err


def test_counts_outlive_a_failed_write(
    topoloom: Command,
) -> None:
    command = write_torchrun_job("dist.all_reduce(Tensor(10))", 2)
    done = topoloom("record", "-o", "p.npz", "--collectives", "nccl", *command)
    assert done.status
    assert "2 ranks are not a multiple of 8 GPUs per node" in done.err
    [kept] = Path().glob("topoloom-torch-*")
    assert f"are in {kept.absolute()}: topoloom record --recover" in done.err
    recovered = topoloom("record", "-o", "p.npz", "--recover", str(kept))
    assert (recovered.status, kept.exists()) == (0, False)
    assert load_calls() == {("allreduce", (0, 1), -1, 40): 1}


def test_a_program_without_the_recorder_does_not_hang(
    topoloom: Command,
) -> None:
    """The port that the recorder would replace is invalid, so the program ends."""
    Path("train.py").write_text("""\
import os
raise SystemExit(7 * (int(os.environ["MASTER_PORT"]) >= 1 << 16))
""")
    hidden = f"{sys.executable} -I train.py"
    done = topoloom(
        "record", "-o", "p.npz", "--world-size", 8, "--", "sh", "-c", hidden
    )
    assert done.status == 7
    assert "ended with status 7 before a process initialized" in done.err


WORLD = """\
stage = rank // 4
tensors = [[first, first + 1] for first in range(0, 16, 2)]
shards = [[s + t, s + t + 2] for s in range(0, 16, 4) for t in range(2)]
own = [dist.new_group(ranks, None, "nccl") for ranks in tensors]
split = dist.split_group(split_ranks=shards)
_, work = dist.all_reduce(Tensor(100), own[rank // 2])
assert [one.count for one in work.result] == [100]  # DDP reads gradients here
dist.all_gather_into_tensor(Tensor(20), Tensor(10), split)
dist.all_reduce(Tensor(1))
if stage < 3:
    dist.send(Tensor(50), rank + 4)
if stage > 0:
    dist.recv(Tensor(50), rank - 4)
"""


def test_a_few_emulated_ranks_give_the_graph_of_the_world(topoloom: Command) -> None:
    """Emulating one rank per stage, or every rank, gives the same world."""
    command = write_single_process(WORLD)
    done = topoloom("record", "--world-size", 16, "--rank", "0,4,8,12", "-o", "p.npz",
                    *command)  # fmt: skip
    assert (done.status, done.out) == (0, ""), "stdout is the program's"
    assert "  written  " in done.err
    assert "topoloom: " not in done.err
    few, sent = load_calls(), load_messages("send")
    assert sent == {(rank, rank + 4): (200, 1) for rank in range(12)}
    groups = {members: size for _, members, _, size in few}
    assert len(groups) == 17
    assert groups[12, 13] == 400
    assert groups[5, 7] == 40
    assert groups[tuple(range(16))] == 4
    topoloom("record", "--world-size", 16, "--rank", "0-15", "-o", "p.npz", *command)
    assert (load_calls(), load_messages("send")) == (few, sent)


def test_roles_that_were_not_emulated_are_reported(topoloom: Command) -> None:
    command = write_single_process("""\
if rank < 32:
    dist.recv(Tensor(50), rank + 32)
""")
    first = topoloom("record", "--world-size", 64, "-o", "p.npz", *command)
    assert first.status == 0
    assert "rank 0 receives 200 bytes from rank 32, which sends 0" in first.err
    assert "emulate rank 32, too" in first.err


def test_groups_with_other_shapes_than_the_emulated_rank_are_reported(
    topoloom: Command,
) -> None:
    command = write_single_process("""\
groups = [dist.new_group(ranks) for ranks in ([0, 1, 2], [3, 4, 5, 6, 7])]
dist.all_reduce(Tensor(10), groups[0])
""")
    done = topoloom("record", "--world-size", 8, "-o", "p.npz", *command)
    assert (
        "rank 3 and 4 others: in no group shaped as [0, 1, 2], where rank 0" in done.err
    )
    assert list(load_calls()) == [("allreduce", (0, 1, 2), -1, 40)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--world-size", "8", "--rank", "8"],
            "'8' is not a list of increasing numbers",
        ),
        (["--world-size", "0"], "--world-size must be 1 or more"),
        (["--rank", "3"], "--rank requires --world-size"),
        (["--world-size", "8", "--rank", ""], "--rank is empty"),
        (["--world-size", "8", "--mpicc", "mpicc"], "--mpicc is for MPI programs"),
        (["--world-size", "8", "--timeout", "0"], "--timeout 0 leaves the job no time"),
        (
            ["--world-size", "8", "--gpus-per-node", "0"],
            "--gpus-per-node must be 1 or more, not 0",
        ),
        (
            ["--world-size", "9", "--collectives", "nccl"],
            "9 ranks are not a multiple of 8",
        ),
        (["--world-size", "8", "-o", "no/p.npz"], "there is no directory 'no'"),
        (
            ["--torch", "--collectives", "foo"],
            "'foo' is none of expand, keep, drop, nc",
        ),
    ],
)
def test_impossible_worlds_are_refused(
    topoloom: Command, words: list[str], message: str
) -> None:
    done = topoloom(
        "record", "-o", "p.npz", *words, *write_single_process("print('ran')")
    )
    assert done.status in (1, 2)
    assert message in done.err
    assert done.out == ""
    assert not [*Path().glob("*topoloom*"), *Path().glob("*.npz")]


@pytest.mark.parametrize(
    ("options", "named"),
    [(["-I"], "-I"), (["-uE"], "-E"), (["-X", "dev", "-S"], "-S"), (["-c", "-I"], "")],
)
def test_python_without_the_recorder_emulates_no_rank(
    topoloom: Command, options: list[str], named: str
) -> None:
    done = topoloom("record", "-o", "p.npz", "--world-size", 8, "--", sys.executable,
                    *options, "train.py")  # fmt: skip
    assert (f"with {named} Python does not load the recorder" in done.err) == bool(
        named
    )
    assert done.status


def test_torchrun_cannot_be_combined_with_an_emulated_world(topoloom: Command) -> None:
    done = topoloom("record", "-o", "p.npz", "--world-size", 8, *write_torchrun_job(""))
    assert "torchrun starts all ranks" in done.err
    assert done.status


def test_programs_without_torch_leave_no_counts(topoloom: Command) -> None:
    done = topoloom("record", "-o", "p.npz", "--world-size", 8, "--",
                    sys.executable, "-c", "import sys; sys.exit(4)")  # fmt: skip
    assert done.status == 4
    assert "ended with status 4 before a process initialized" in done.err
    missing = topoloom(
        "record", "-o", "p.npz", "--world-size", 8, "--", "no-such-program"
    )
    assert "cannot run 'no-such-program'" in missing.err


def test_an_old_torch_is_reported_and_the_job_continues(
    topoloom: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLD_TORCH", "1")
    done = topoloom("record", "-o", "p.npz", *write_torchrun_job("print('ran')\n", 1))
    assert done.status == 0
    assert "PyTorch 0.1 cannot be recorded: AttributeError" in done.err
    assert not load_calls()
