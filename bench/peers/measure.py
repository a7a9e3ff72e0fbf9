# SPDX-License-Identifier: BSD-3-Clause
"""Runs one tool on one instance in a separate process, and measures it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from peers.instance import Instance
from peers.instances import ROOT
from peers.judging import InvalidAnswer, Verdict, judge
from peers.tools import Tool

#: Limit of a process's address space in bytes, which protects the other tools.
MEMORY = 12 * 2**30
VENV = ROOT / "build" / "bench-peers" / "venv"


@dataclass
class Run:
    """One result.

    Attributes
    ----------
    outcome
        ``ok``, ``infeasible``, ``unable``, ``timeout`` or ``failed``.
    why
        Reason of the last three outcomes.
    search_cpu, search_wall, process_cpu
        Seconds of the search alone, and of the whole process.
    memory
        Peak bytes of the process.
    """

    group: str
    instance: str
    hash: str
    tool: str
    effort: str
    seed: int
    outcome: str = "failed"
    why: str = ""
    hop_bytes: int | None = None
    overfilled: int = 0
    repaired: int | None = None
    search_cpu: float | None = None
    search_wall: float | None = None
    process_cpu: float | None = None
    memory: int | None = None
    version: str = ""
    threads: int = 1

    def record_verdict(self, verdict: Verdict) -> None:
        """Record a score."""
        self.outcome = "ok" if verdict.feasible else "infeasible"
        self.hop_bytes = verdict.hop_bytes
        self.overfilled = verdict.overfilled
        self.repaired = verdict.repaired


def make_unscored_run(
    instance: Instance,
    tool: Tool,
    effort: str,
    outcome: str = "failed",
    why: str = "",
) -> Run:
    """Return the result of a run that was not started."""
    names = (instance.group, instance.name, instance.hash, tool.name, effort)
    return Run(*names, 0, outcome, why)


def measure(
    instance: Instance,
    tool: Tool,
    effort: str,
    seed: int,
    threads: int = 1,
    limit: float = 60.0,
    keep: Path | None = None,
) -> Run:
    """Run a tool; any failure becomes the run's outcome.

    Parameters
    ----------
    limit
        Wall-clock seconds after which the process is killed.
    keep
        A folder for the answer; by default, the answer is deleted.
    """
    run = make_unscored_run(instance, tool, effort)
    run.seed, run.threads = seed, threads
    with tempfile.TemporaryDirectory() as folder:
        answer = (keep or Path(folder)) / "answer.json"
        answer.unlink(missing_ok=True)
        python = VENV / "bin" / "python" if tool.peer else Path(sys.executable)
        if not python.exists():
            run.outcome, run.why = "unable", "not installed: tools/setup.sh peers"
            return run
        command = [
            *(str(python), "-m", f"peers.adapters.{tool.adapter}"),
            *(str(instance.folder), str(answer), effort, str(seed), str(threads)),
        ]
        # With several threads, Scotch varies from run to run, and uses all cores.
        one = {"SCOTCH_PTHREAD_NUMBER": str(threads), "OMP_NUM_THREADS": str(threads)}
        reason = _run_limited(command, run, limit, one)
        if run.outcome == "timeout":
            return run
        if not answer.exists():
            run.why = reason
            return run
        _read_answer(answer, instance, run)
    return run


def _run_limited(
    command: list[str], run: Run, limit: float, variables: dict[str, str]
) -> str:
    """Run a command within the limit; record its usage, return the last line."""
    environment = os.environ | variables | {"PYTHONPATH": str(ROOT / "bench")}
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
        limits = (MEMORY, MEMORY)
        resource.prlimit(process.pid, resource.RLIMIT_AS, limits)
        used = _wait_for_process(process, limit)
        if used is None:
            os.killpg(process.pid, signal.SIGKILL)
            run.outcome, run.why = "timeout", f"ended after {limit:g} s"
            used = os.wait4(process.pid, 0)[2]
        process.returncode = 0
        run.process_cpu = used.ru_utime + used.ru_stime
        run.memory = used.ru_maxrss * 1024
        output.seek(0)
        lines = [line for line in output.read().splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def _wait_for_process(
    process: subprocess.Popen[bytes], limit: float
) -> resource.struct_rusage | None:
    end, pause = time.monotonic() + limit, 0.001
    while time.monotonic() < end:
        pid, _, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return used
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
    return None


def _read_answer(file: Path, instance: Instance, run: Run) -> None:
    answer = json.loads(file.read_text())
    for outcome in ("unable", "failed"):
        if outcome in answer:
            run.outcome, run.why = outcome, answer[outcome]
            return
    run.version = answer["version"]
    run.search_cpu, run.search_wall = answer["search_cpu"], answer["search_wall"]
    # Measure only the tool's process, not its adapter.
    run.process_cpu = answer["process_cpu"] or run.process_cpu
    run.memory = answer["process_rss"] or run.memory
    try:
        run.record_verdict(judge(instance, np.array(answer["place"], np.int64)))
    except InvalidAnswer as error:
        run.why = str(error)
