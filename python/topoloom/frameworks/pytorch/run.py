# SPDX-License-Identifier: BSD-3-Clause
"""Runs jobs of PyTorch whose processes count what they communicate."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from topoloom._core import Error
from topoloom.frameworks.pytorch.fake_world import spread
from topoloom.frameworks.pytorch.injected import FOLDER, WORLD
from topoloom.frameworks.pytorch.notes import Noted, joined, read_notes
from topoloom.graphs.traces.trace import Trace
from topoloom.launch.apply.program import run_program
from topoloom.launch.apply.torch_ranks import is_torchrun
from topoloom.launch.launcher import Launch
from topoloom.support.files import shared_directory
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.plain_text import is_number


class Job(NamedTuple):
    """What the processes of a job have counted.

    Attributes
    ----------
    noted
        By rank.
    status
        The exit status of the command.
    seconds
        From the start of the command to its end.
    fake
        Whether one process at a time has played ranks of a fake world.
    """

    noted: list[Noted]
    status: int
    seconds: float
    fake: bool

    def trace(self) -> Trace:
        """Join what the ranks have counted, and what could not be."""
        return spread(self.noted) if self.fake else joined(self.noted)


def run_job(
    command: Sequence[str],
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> Job:
    """Run a command that starts the ranks of a job, such as torchrun.

    Raises
    ------
    topoloom.Error
        If it cannot be run.
    """
    return _run(command, [{}], timeout, stdout)


def play_ranks(
    command: Sequence[str],
    world: int,
    ranks: str,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> Job:
    """Run a command of one process once for each rank that it plays, until one fails.

    Its ``init_process_group`` starts a world of the backend ``fake``, whatever it asks
    for; collectives return at once and leave data as they are.

    Raises
    ------
    topoloom.Error
        For ranks that the world does not have, and if the command cannot be run.
    """
    if not 1 <= world < 10**7:
        raise Error(f"--world is {world}; give it 1 to {10**7 - 1}")
    if is_torchrun(command):
        raise Error("torchrun starts all ranks; with --world, name one process")
    given = os.environ.get("LOCAL_WORLD_SIZE", "")
    local = int(given) if is_number(given) and int(given) else 1
    each = [
        {
            WORLD: f"{rank}/{world}",
            "RANK": str(rank),
            "WORLD_SIZE": str(world),
            "LOCAL_RANK": str(rank % local),
            "LOCAL_WORLD_SIZE": str(local),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": "29500",
        }
        for rank in expand_ranges(ranks, world)
    ]
    return _run(command, each, timeout, stdout)


def _run(
    command: Sequence[str],
    each: Sequence[dict[str, str]],
    timeout: float | None,
    stdout: IO[Any] | None,
) -> Job:
    if not command:
        raise Error("no command; write it after --, as in: -- torchrun train.py")
    begin, status = time.monotonic(), 0
    with shared_directory("torch") as name:
        folder = Path(name).resolve()
        source = Path(__file__).with_name("injected.py").read_text()
        (folder / "sitecustomize.py").write_text(source)
        found = os.environ.get("PYTHONPATH")
        shared = {
            "PYTHONPATH": os.pathsep.join([str(folder), *([found] if found else [])]),
            FOLDER: str(folder),
        }
        for environment in each:
            left = None if timeout is None else timeout - (time.monotonic() - begin)
            if left is not None and left <= 0:
                break
            try:
                launch = Launch(list(command), {**shared, **environment})
                status = run_program(launch, left, stdout)
            except OSError as error:
                raise Error(f"cannot run '{command[0]}': {error.strerror}") from None
            if status:
                break
        seconds = time.monotonic() - begin
        return Job(read_notes(folder), status, seconds, WORLD in each[0])
