# SPDX-License-Identifier: BSD-3-Clause
"""Send random signals to recorded jobs: `make fuzz-signals`.

At a random moment, a random signal hits a rank, the launcher or Topoloom. Then no
process may remain, the exit status must be that of the launcher or of the signal, no
hidden folder may stay, and every rank that had sent before must be in the file. After
SIGKILL of Topoloom, `record --recover` must find the same ranks.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpis import Mpi

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mpi"))

SIGNALS = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL),
    *(signal.SIGUSR1, signal.SIGUSR2),
)
TARGETS = ("topoloom", "launcher", "rank")
RANKS = 3
WORK_SECONDS = 2.0
#: For launchers that end a job, and for jobs that outlive Topoloom; cores may be busy.
SECONDS = 600.0
#: Runs the command line, and writes the launcher's status to a file.
MAIN = """
import sys
from pathlib import Path
from topoloom.cli import main
from topoloom.launch.apply import run_program
wait = run_program._wait_or_kill
def note_status(*arguments):
    status = wait(*arguments)
    Path({file!r}).write_text(str(status))
    return status
run_program._wait_or_kill = note_status
main()
"""


@dataclass
class Trial:
    """A job, the signal that it got, and what was wrong afterwards."""

    mpi: str
    target: str
    number: signal.Signals
    delay: float
    folder: Path
    #: Seconds in which all processes must end after Topoloom, less than they work.
    grace: float
    sent: set[int] = field(default_factory=set)
    is_signaled: bool = False
    has_launcher_died: bool = False
    wrong: list[str] = field(default_factory=list)

    def describe(self) -> str:
        """Describe the trial in a line."""
        return (
            f"{self.mpi}: {self.number.name} to {self.target} after "
            f"{self.delay:.2f} s, {len(self.sent)} ranks had sent"
        )

    @property
    def output(self) -> Path:
        """The file with the graph."""
        return self.folder / "app.npz"

    @property
    def is_topoloom_killed(self) -> bool:
        """Whether Topoloom could not write anything."""
        is_kill = self.number == signal.SIGKILL
        return self.is_signaled and is_kill and self.target == "topoloom"

    @property
    def can_lose_ranks(self) -> bool:
        """Whether ranks got SIGKILL: from us, or because their launcher died."""
        is_kill = self.number == signal.SIGKILL or self.has_launcher_died
        return self.is_signaled and is_kill and self.target != "topoloom"


def main() -> int:
    """Run the trials, print failures and a summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", metavar="MPI", help="openmpi, mpich or openmpi5")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    from mpis import MPIS
    from several_hosts import allow_root, share_cores

    allow_root()
    share_cores()
    draw = random.Random(args.seed)
    mpis = [mpi for mpi in MPIS if args.only in (None, mpi.name)]
    seconds = {mpi.name: measure_run(mpi) for mpi in mpis}
    failed, outcomes = 0, Counter[str]()
    for _ in range(args.count):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            mpi = draw.choice(mpis)
            delay = draw.uniform(0, 1.05 * seconds[mpi.name])
            drawn = draw.choice(TARGETS), draw.choice(SIGNALS), delay
            trial = Trial(mpi.name, *drawn, Path(folder), seconds[mpi.name] / 4)
            run_trial(mpi, trial)
            outcomes[f"{trial.target}, {count_ranks(trial)}"] += 1
            if trial.wrong:
                failed += 1
                print(f"{trial.describe()}: {'; '.join(trial.wrong)}", flush=True)
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:4} {outcome}")
    print(f"{args.count} signals, {failed} failures")
    return 1 if failed else 0


def measure_run(mpi: Mpi) -> float:
    """Return the time of a run without signals, after one that compiles libraries."""
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(mpi.name, "nothing", signal.SIGURG, 0, Path(folder), SECONDS)
            begin = time.monotonic()
            run_trial(mpi, trial)
            if trial.wrong:
                raise SystemExit(f"without signals: {'; '.join(trial.wrong)}")
    return time.monotonic() - begin


def count_ranks(trial: Trial) -> str:
    """Describe how far the job was at the signal."""
    if not trial.is_signaled:
        return "not running at the signal"
    return "ranks had sent" if trial.sent else "no rank had sent"


def run_trial(mpi: Mpi, trial: Trial) -> None:
    """Record a job, send the signal, and check what remains."""
    from mpis import PROGRAMS, build_program

    program = build_program(mpi, PROGRAMS / "unusual/working.c")
    words = mpi.command(RANKS, program, trial.folder, WORK_SECONDS)
    status_file = trial.folder / "status"
    job = start_topoloom(status_file, "record", "-o", trial.output, "--", *words)
    errors = disturb_job(trial, job)
    if errors is None:
        return
    check_status(trial, job.returncode, status_file, errors)
    check_recording(trial, errors)


def start_topoloom(status_file: Path, *words: object) -> subprocess.Popen[str]:
    """Start Topoloom beside the file to which it writes the launcher's status."""
    return subprocess.Popen(
        [sys.executable, "-c", MAIN.format(file=str(status_file)), *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=restore_signals,
        cwd=status_file.parent,
    )


def disturb_job(trial: Trial, job: subprocess.Popen[str]) -> str | None:
    """Send the signal, and check that no process remains.

    Returns what Topoloom wrote to standard error; None if it did not end.
    """
    time.sleep(trial.delay)
    trial.sent = {int(one.name[5:]) for one in trial.folder.glob("sent-*")}
    if (target := find_target(trial, job)) is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(target, trial.number)
            trial.is_signaled = True
    try:
        _, errors = job.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        trial.wrong.append(f"did not end within {SECONDS:g} s")
        return None
    grace = SECONDS if trial.is_topoloom_killed else trial.grace
    if orphans := wait_for_processes(trial.folder, grace):
        trial.wrong.append(f"{len(orphans)} processes remain")
        for orphan in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(orphan, signal.SIGKILL)
    return errors


def restore_signals() -> None:
    """Give the job the default actions; background processes ignore SIGINT."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def find_target(trial: Trial, job: subprocess.Popen[str]) -> int | None:
    """Return the process that gets the signal; None if it does not run."""
    if trial.target not in TARGETS:
        return None
    if trial.target == "topoloom":
        return job.pid if job.poll() is None else None
    is_rank = trial.target == "rank"
    found = []
    for process in find_processes(trial.folder):
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
            if command[0].endswith(f"working.{trial.mpi}".encode()) == is_rank and (
                is_rank or parent.split()[1] == str(job.pid)
            ):
                found.append(process)
    return min(found, default=None)


def find_processes(folder: Path) -> list[int]:
    """List the processes of the job: those with the folder as an argument."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if str(folder).encode() in words:
                found.append(int(process.name))
    return found


def wait_for_processes(folder: Path, seconds: float) -> list[int]:
    """Return the processes of the job that are left after a time."""
    deadline = time.monotonic() + seconds
    while (left := find_processes(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def check_status(trial: Trial, status: int, file: Path, errors: str) -> None:
    """Compare the status with those of the launcher and the signal."""
    allowed = set()
    is_ours = trial.is_signaled and trial.target == "topoloom"
    if file.exists():
        launched = int(file.read_text())
        trial.has_launcher_died = launched < 0
        launched = 128 - launched if launched < 0 else launched
        allowed.add(launched)
        if is_ours and launched:
            allowed = {128 + trial.number, launched}
    if is_ours:  # before Python handles signals, or while it begins or ends
        allowed |= {-trial.number, 128 + trial.number}
    if status not in allowed:
        trial.wrong.append(f"status {status}, not {allowed}: {errors[-500:]}")


def check_recording(trial: Trial, errors: str) -> None:
    """Check that the file has all ranks that had sent, and no folder stays."""
    from own_process import topoloom

    from topoloom.graphs.profile import load_profile
    from topoloom.preload.record.notes_folder import find_leftovers

    hidden = list(trial.folder.glob(".topoloom-*"))
    if trial.is_topoloom_killed and hidden:
        if find_leftovers(trial.folder) != hidden:
            trial.wrong.append("the leftovers are not found")
        if trial.sent:
            done = topoloom("record", "-o", trial.output, "--recover", hidden[0])
            errors = done.stderr
    elif hidden:
        trial.wrong.append(f"{len(hidden)} hidden folders stay")
    if not trial.sent or trial.can_lose_ranks:
        return
    if not trial.output.exists():
        trial.wrong.append(f"no file: {errors[-500:]}")
    elif lost := trial.sent.intersection(load_profile(trial.output).missing):
        trial.wrong.append(f"ranks {lost} are lost: {errors[-500:]}")


if __name__ == "__main__":
    sys.exit(main())
