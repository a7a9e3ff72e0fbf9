# SPDX-License-Identifier: BSD-3-Clause
"""Runs PyTorch jobs whose processes record their communication."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from topoloom._core import Error
from topoloom.frameworks.pytorch.fake_world import extrapolate_trace
from topoloom.frameworks.pytorch.injected import FOLDER, WORLD
from topoloom.frameworks.pytorch.process_notes import (
    count_restarts,
    merge_notes,
    read_notes,
    select_last_starts,
)
from topoloom.graphs.traces.trace import Trace
from topoloom.launch.apply.run_program import run_program
from topoloom.launch.apply.torch_command import is_torchrun
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.launcher_commands import recognize_launcher
from topoloom.support.ending_signals import HeldSignals
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.parameter_error import ParameterError
from topoloom.support.plain_text import is_number
from topoloom.support.site_injection import inject
from topoloom.support.units import counted

_PYTHON = re.compile(r"python[0-9.]*")


class JobResult(NamedTuple):
    """Exit status and run time of a job."""

    status: int  # exit status of the command
    seconds: float  # run time of the command


def read_recording(folder: str | Path) -> Trace:
    """Merge the notes of a job's processes into a trace, which also lists losses.

    If torchrun restarted ranks, only the last start counts. In a fake world, all other
    ranks are extrapolated from the emulated ranks.

    Raises
    ------
    topoloom.Error
        If a file is damaged, or there are several jobs or worlds of different sizes.
    """
    found = read_notes(Path(folder))
    if not found:
        raise Error(f"{folder} contains no notes of a PyTorch process")
    noted, left_out = select_last_starts(found)
    is_fake = any(one.groups for one in noted)
    trace = extrapolate_trace(noted) if is_fake else merge_notes(noted)
    if left_out:
        trace.add_loss(
            f"{counted(left_out, 'earlier start')} of ranks left out: torchrun started "
            "the job again, and only the last start counts"
        )
    more = count_restarts(Path(folder)) - max(one.start.attempt or 0 for one in noted)
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
    signals: HeldSignals | None = None,
) -> JobResult:
    """Run a command that starts the ranks of a job, such as torchrun.

    The ranks write notes to `folder`, which must be visible on all hosts.

    Raises `topoloom.Error` if the command cannot be run.
    """
    return _run_command(command, Path(folder), [{}], timeout, stdout, signals)


def emulate_ranks(
    command: Sequence[str],
    world: int,
    ranks: str,
    folder: str | Path,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
    signals: HeldSignals | None = None,
) -> JobResult:
    """Run a command once per emulated rank; stop if a process fails.

    Its ``init_process_group`` always uses the backend ``fake``, whose collectives
    return immediately without changing data. Processes write notes to `folder`.

    Raises `topoloom.Error` if a rank exceeds the world, or the command cannot be run.
    """
    if not 1 <= world < 10**7:
        raise ParameterError(
            "world_size", f"must be from 1 to {10**7 - 1}, not {world}"
        )
    if is_torchrun(command):
        raise Error(
            "torchrun starts all ranks; with --world-size, give a command for one "
            "process"
        )
    if isolated := _find_isolating_option(command):
        raise Error(
            f"with {isolated} Python does not load the recorder, so the program would "
            f"wait for the other ranks of --world-size; remove {isolated}"
        )
    given = os.environ.get("LOCAL_WORLD_SIZE", "")
    local = int(given) if is_number(given) and int(given) else 1
    environments = [
        {
            WORLD: f"{rank}/{world}",
            "RANK": str(rank),
            "WORLD_SIZE": str(world),
            "LOCAL_RANK": str(rank % local),
            "LOCAL_WORLD_SIZE": str(local),
            "MASTER_ADDR": "127.0.0.1",
            # This address is invalid, so that a Python without the recorder fails
            # instead of waiting.
            "MASTER_PORT": "65536",
        }
        for rank in expand_ranges(ranks, world)
    ]
    return _run_command(command, Path(folder), environments, timeout, stdout, signals)


def _find_isolating_option(command: Sequence[str]) -> str:
    """Find a Python option that disables ``sitecustomize``."""
    words = iter(command)
    if not any(_PYTHON.fullmatch(Path(word).name) for word in words):
        return ""
    for word in words:  # arguments after the interpreter
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


def _run_command(
    command: Sequence[str],
    folder: Path,
    environments: Sequence[dict[str, str]],
    timeout: float | None,
    stdout: IO[Any] | None,
    signals: HeldSignals | None,
) -> JobResult:
    begin, status = time.monotonic(), 0
    folder = folder.resolve()
    source = Path(__file__).with_name("injected.py")
    shared = {**inject(source, folder), FOLDER: str(folder)}
    for environment in environments:
        left = None if timeout is None else timeout - (time.monotonic() - begin)
        if left is not None and left <= 0:
            break
        try:
            variables = {**shared, **environment}
            launch = Launch(_forward_variables(command, variables), variables)
            status = run_program(launch, left, stdout, signals=signals)
        except OSError as error:
            raise Error(f"cannot run '{command[0]}': {error.strerror}") from None
        if status:
            break
    return JobResult(status, time.monotonic() - begin)


def _forward_variables(command: Sequence[str], variables: dict[str, str]) -> list[str]:
    """Add the launcher's options that pass environment variables to other hosts."""
    first, *others = command
    try:
        recognized = recognize_launcher(first)
    except Error:
        return [*command]
    option = recognized.launcher.ENVIRONMENT_OPTION if recognized else None
    return [first, *(option.write(variables) if option else []), *others]
