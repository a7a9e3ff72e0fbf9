# SPDX-License-Identifier: BSD-3-Clause
"""Kill jobs of `topoloom run` at random moments: `make fuzz-runs`.

Jobs of a few programs share a run store. At a random moment, a random signal hits a
rank, the launcher or Topoloom, or the store's disk is full for the rest of the job.
Then no process and no hidden folder may remain, the exit status must be that of the
launcher or of the signal, the store must be readable, runs that it listed before must
be as they were, and the run must be listed with its status, unless Topoloom was killed
or the disk full.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz_signals import (
    SECONDS,
    SIGNALS,
    TARGETS,
    Trial,
    check_status,
    disturb_job,
    start_topoloom,
)

if TYPE_CHECKING:
    from several_hosts import SeveralHosts

PLACING = ("--machine", "mesh:4", "--mapper", "random", "--seed", "3")
HOSTS = "alpha,beta,gamma,delta"
RANKS = 4
PROGRAM_NAMES = ("one", "two", "three")
WORK_SECONDS = 1.0
DISK_BYTES = 8 << 20
FULL_DISK = "disk"


def main() -> int:
    """Run the jobs, print failures and a summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    from several_hosts import (
        allow_root,
        find_installed_mpis,
        make_several_hosts,
        share_cores,
    )

    allow_root()
    share_cores()
    draw = random.Random(args.seed)
    failed, outcomes = 0, Counter[str]()
    with tempfile.TemporaryDirectory() as folder, mount_disk(Path(folder)) as store:
        mpis = []
        for number, mpi in enumerate(find_installed_mpis()):
            agent = Path(folder, str(number))
            agent.mkdir()
            mpis.append(make_several_hosts(mpi, agent))
        seconds = {hosts.mpi.name: measure_run(hosts, store) for hosts in mpis}
        for _ in range(args.count):
            hosts = draw.choice(mpis)
            delay = draw.uniform(0, 1.05 * seconds[hosts.mpi.name])
            target = draw.choice((*TARGETS, FULL_DISK))
            drawn = target, draw.choice(SIGNALS), delay
            name = draw.choice(PROGRAM_NAMES)
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
                trial = Trial(hosts.mpi.name, *drawn, Path(own), SECONDS)
                kind = run_job(hosts, trial, store, name)
            outcomes[f"{target}, {kind}"] += 1
            if trial.wrong:
                failed += 1
                print(f"{trial.describe()}: {'; '.join(trial.wrong)}", flush=True)
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:4} {outcome}")
    print(f"{args.count} jobs, {failed} failures")
    return 1 if failed else 0


@contextlib.contextmanager
def mount_disk(folder: Path) -> Any:
    """Mount a small disk for the run store, in the mount namespace of `make`."""
    disk = folder / "disk"
    disk.mkdir()
    size = f"size={DISK_BYTES}"
    mount = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    try:
        yield disk / "store"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def measure_run(hosts: SeveralHosts, store: Path) -> float:
    """Return the time of a run without signals, after one that compiles libraries."""
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            unharmed = "nothing", signal.SIGURG, 0.0
            trial = Trial(hosts.mpi.name, *unharmed, Path(folder), SECONDS)
            begin = time.monotonic()
            run_job(hosts, trial, store, "unharmed")
            if trial.wrong:
                raise SystemExit(f"without signals: {'; '.join(trial.wrong)}")
    return time.monotonic() - begin


def run_job(hosts: SeveralHosts, trial: Trial, store: Path, name: str) -> str:
    """Run a job, disturb it, and check what remains; return how it was stored."""
    from built_programs import NAP_SOURCE, compile_program
    from several_hosts import PROGRAMS

    compiling = [hosts.mpi.mpicc, "-w", PROGRAMS / "unusual/working.c", NAP_SOURCE]
    program = compile_program(f"working.{hosts.mpi.name}", compiling)
    option = ["-hosts"] if hosts.mpi.is_hydra else ["--bind-to", "none", "--host"]
    command = hosts.command(*option, HOSTS, "-n", RANKS, program)
    before = list_runs(trial, store)
    status_file = trial.folder / "status"
    options = (*PLACING, "--hosts", HOSTS, "--store", store, "--name", name)
    words = ("run", *options, "--mpicc", hosts.mpi.mpicc, "--", *command)
    job = start_topoloom(status_file, *words, trial.folder, WORK_SECONDS)
    filler = store.parent / "filler"
    if trial.target == FULL_DISK:
        time.sleep(trial.delay)
        fill_disk(filler)
        trial.delay = 0
    errors = disturb_job(trial, job)
    filler.unlink(missing_ok=True)
    if errors is None:
        return "did not end"
    check_status(trial, job.returncode, status_file, errors)
    if not trial.is_topoloom_killed and list(trial.folder.glob(".topoloom-*")):
        trial.wrong.append("hidden folders stay")
    after = list_runs(trial, store)
    check_earlier_runs(trial, before, after)
    added = [run for one, run in after.items() if one not in before]
    may_be_lost = trial.is_topoloom_killed or trial.target == FULL_DISK
    if len(added) > 1:
        trial.wrong.append(f"{len(added)} runs are stored")
    elif status_file.exists() and not may_be_lost:
        statuses = {job.returncode, int(status_file.read_text())}
        check_stored_run(trial, added, statuses, store)
    return added[0]["kind"] if added else "not stored"


def fill_disk(filler: Path) -> None:
    """Write a file until the disk is full."""
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def list_runs(trial: Trial, store: Path) -> dict[str, Any]:
    """List the runs of the store by their identifiers."""
    from own_process import topoloom

    if not store.exists():
        return {}
    done = topoloom("runs", "--store", store, "--last", 10**6, "--json")
    if done.returncode != 0:
        trial.wrong.append(f"the store cannot be read: {done.stderr}")
        return {}
    return {run["id"]: run for run in json.loads(done.stdout)["runs"]}


def check_earlier_runs(
    trial: Trial, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """Check that runs which were stored before are as they were."""
    lost = [name for name, run in before.items() if after.get(name) != run]
    if lost:
        trial.wrong.append(f"{len(lost)} of {len(before)} stored runs are lost")


def check_stored_run(
    trial: Trial, added: list[dict[str, Any]], statuses: set[int], store: Path
) -> None:
    """Check that the run is stored, with its files and one of these statuses."""
    if not added:
        trial.wrong.append("the run is not stored")
        return
    if added[0]["exit_status"] not in statuses:
        stored = added[0]["exit_status"]
        trial.wrong.append(f"stored with status {stored}, not {statuses}")
    for name in (added[0]["recording"], added[0]["placement"]):
        if name is not None and not any(store.glob(f"files/*/{name}")):
            trial.wrong.append(f"its file {name} is lost")


if __name__ == "__main__":
    os.environ.pop("TOPOLOOM_STORE", None)
    sys.exit(main())
