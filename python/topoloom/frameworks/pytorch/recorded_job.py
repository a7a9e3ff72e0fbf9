# SPDX-License-Identifier: BSD-3-Clause
"""Runs jobs of PyTorch whose processes count what they communicate."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from topoloom._core import Error
from topoloom.frameworks.pytorch.fake_world import spread
from topoloom.frameworks.pytorch.injected import FOLDER, WORLD
from topoloom.frameworks.pytorch.notes import (
    joined,
    last_attempt,
    last_starts,
    read_notes,
)
from topoloom.graphs.traces.trace import Trace
from topoloom.launch.apply.program import run_program
from topoloom.launch.apply.torch_command import is_torchrun
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.launcher_commands import recognize
from topoloom.support.hidden_site import inject
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.plain_text import is_number
from topoloom.support.units import counted

_PYTHON = re.compile(r"python[0-9.]*")


class Job(NamedTuple):
    """A job that has ended.

    Attributes
    ----------
    status
        The exit status of the command.
    seconds
        From the start of the command to its end.
    """

    status: int
    seconds: float


def read_recording(folder: str | Path) -> Trace:
    """Join what the processes of a job have left in a folder, and what could not be.

    Where torchrun has started ranks again, their last start counts. From ranks of a
    world that were played, the others follow.

    Raises
    ------
    topoloom.Error
        For damaged files, several jobs, or worlds of different sizes.
    """
    found = read_notes(Path(folder))
    if not found:
        raise Error(f"{folder}: no process of PyTorch has left notes there")
    noted, left_out = last_starts(found)
    is_fake = any(one.groups for one in noted)
    trace = spread(noted) if is_fake else joined(noted)
    if left_out:
        trace.add_loss(
            f"{counted(left_out, 'earlier start')} of ranks left out: torchrun started "
            "the job again, and only the last start counts"
        )
    more = last_attempt(Path(folder)) - max(one.start.attempt or 0 for one in noted)
    if more > 0:
        trace.add_loss(
            f"torchrun started the job again {counted(more, 'time')} without beginning "
            "a world; the start before counts"
        )
    return trace


def run_job(
    command: Sequence[str],
    folder: str | Path,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> Job:
    """Run a command that starts the ranks of a job, such as torchrun.

    They leave notes in a folder, which their hosts see.

    Raises
    ------
    topoloom.Error
        If it cannot be run.
    """
    return _run(command, Path(folder), [{}], timeout, stdout)


def play_ranks(
    command: Sequence[str],
    world: int,
    ranks: str,
    folder: str | Path,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> Job:
    """Run a command of one process once for each rank that it plays, until one fails.

    Its ``init_process_group`` starts a world of the backend ``fake``, whatever it asks
    for; collectives return at once and leave data as they are. Notes are in `folder`.

    Raises
    ------
    topoloom.Error
        For ranks that the world does not have, and if the command cannot be run.
    """
    if not 1 <= world < 10**7:
        raise Error(f"--world is {world}; give it 1 to {10**7 - 1}")
    if is_torchrun(command):
        raise Error("torchrun starts all ranks; with --world, name one process")
    if isolated := _isolated(command):
        raise Error(
            f"with {isolated} Python does not load the recorder, and the program would "
            f"wait for the other ranks of --world; leave {isolated} out"
        )
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
            # No port: a Python without the recorder fails, and waits for no ranks.
            "MASTER_PORT": "65536",
        }
        for rank in expand_ranges(ranks, world)
    ]
    return _run(command, Path(folder), each, timeout, stdout)


def _isolated(command: Sequence[str]) -> str:
    """Find an option of Python by which it loads no ``sitecustomize`` of ours."""
    words = iter(command)
    if not any(_PYTHON.fullmatch(Path(word).name) for word in words):
        return ""
    for word in words:  # those after Python
        if not word.startswith("-") or word.startswith("--"):
            break
        switches = re.match("[^cmWX]*", word[1:])[0]  # type: ignore[index]
        if found := re.search("[EIS]", switches):
            return f"-{found[0]}"
        if switches != word[1:]:
            if word[-1] not in "WX":
                break
            next(words, None)
    return ""


def _run(
    command: Sequence[str],
    folder: Path,
    each: Sequence[dict[str, str]],
    timeout: float | None,
    stdout: IO[Any] | None,
) -> Job:
    begin, status = time.monotonic(), 0
    folder = folder.resolve()
    source = Path(__file__).with_name("injected.py")
    shared = {**inject(source, folder), FOLDER: str(folder)}
    for environment in each:
        left = None if timeout is None else timeout - (time.monotonic() - begin)
        if left is not None and left <= 0:
            break
        try:
            variables = {**shared, **environment}
            launch = Launch(_forwarding(command, variables), variables)
            status = run_program(launch, left, stdout)
        except OSError as error:
            raise Error(f"cannot run '{command[0]}': {error.strerror}") from None
        if status:
            break
    return Job(status, time.monotonic() - begin)


def _forwarding(command: Sequence[str], variables: dict[str, str]) -> list[str]:
    """Let a launcher that passes no environment to other hosts pass variables."""
    first, *others = command
    try:
        recognized = recognize(first)
    except Error:
        return [*command]
    option = recognized.launcher.ENVIRONMENT_OPTION if recognized else None
    return [first, *(option.write(variables) if option else []), *others]
