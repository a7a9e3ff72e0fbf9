# SPDX-License-Identifier: BSD-3-Clause
"""Simulates programs that were built with ``smpicc`` in SMPI, the MPI of SimGrid.

Each message costs its sender and its receiver the startup of the machine. Computation
takes no simulated time, unless the program calls ``smpi_execute`` or an option of
``smpirun`` changes that.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error, Machine
from topoloom.importers.simgrid.platform import (
    MAX_NODES,
    IntraHostLink,
    find_single_route,
    write_routes,
)
from topoloom.importers.simgrid.platform_parts import NO_LIMIT
from topoloom.simulate.simgrid import CONSTANT_FACTORS
from topoloom.support.parameter_error import ParameterError
from topoloom.support.plain_text import is_number

#: Settings that make links behave as the machine describes them. Unsuccessful polls
#: take simulated time; otherwise a polling rank would never advance.
_SETTINGS = (
    CONSTANT_FACTORS,
    "network/TCP-gamma:0",
    "network/crosstraffic:no",
    "smpi/simulate-computation:no",
    "smpi/host-speed:1Gf",
    "smpi/grow-injected-times:no",
    "smpi/iprobe:1e-7",
    "smpi/test:1e-6",
    "smpi/display-timing:yes",
)
#: Settings of the startup of blocking sends, nonblocking sends and receives.
_OVERHEADS = ("os", "ois", "or")
_TRACING = (
    "tracing:yes",
    "tracing/smpi:yes",
    "tracing/smpi/internals:yes",  # the messages of collectives
    "tracing/smpi/display-sizes:yes",
)
#: Options of smpirun whose value is the next word. Those with True are set by
#: `run_in_smpi`, and refused in a command.
_VALUED = {
    "-platform": True,
    "-hostfile": True,
    "-machinefile": True,
    "-np": False,
    "-n": False,
    "-wrapper": False,
    "-ext": False,
    "-bandwidth": False,
    "-latency": False,
    "-replay": False,
    "-trace-comment": False,
    "-trace-comment-file": False,
    "-trace-file": False,
}
_CLOCK = re.compile(r"Simulated time: ([0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?) seconds")


class SmpiCommand(NamedTuple):
    """An ``smpirun`` command: number of ranks, options and program."""

    ranks: int
    options: tuple[str, ...]
    program: tuple[str, ...]


class SmpiLaunch(NamedTuple):
    """A simulated run; can be pickled for other processes.

    Attributes
    ----------
    command
        The number of ranks, options of ``smpirun``, and the program.
    platform
        A SimGrid platform, as text.
    node_of_rank
        The node of each rank.
    startup
        Seconds that a message costs its sender and its receiver.
    environment
        Variables that are added to those of this process.
    preload
        Library that is preloaded into the program, or "".
    """

    command: SmpiCommand
    platform: str
    node_of_rank: tuple[int, ...]
    startup: float
    environment: dict[str, str]
    preload: str = ""


class SmpiRun(NamedTuple):
    """The exit status of a simulated run, its output, and the simulated seconds.

    `seconds` is None if SimGrid printed no time, for instance after a failure.
    """

    status: int
    output: str
    errors: str
    seconds: float | None


def is_smpi_command(command: Sequence[str]) -> bool:
    """Return whether a command is one of ``smpirun``."""
    return bool(command) and Path(command[0]).name == "smpirun"


def parse_smpi_command(command: Sequence[str]) -> SmpiCommand:
    """Parse an ``smpirun`` command.

    Raises `topoloom.Error` if it has no number of ranks or no program, or sets the
    platform or the hosts.
    """
    ranks, options = None, []
    words = list(command[1:])
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word not in _VALUED:
            options.append(word)
            continue
        if _VALUED[word]:
            raise Error(f"{word} of smpirun is written for the machine; leave it out")
        if not words:
            raise Error(f"{word} of smpirun has no value")
        value = words.pop(0)
        if word in ("-np", "-n"):
            if not is_number(value) or len(value) > 7 or not int(value):
                raise Error(f"{word} of smpirun is '{value}', expected 1 or more ranks")
            ranks = int(value)
        else:
            options += [word, value]
    if ranks is None:
        raise Error("the command has no number of ranks, such as smpirun -np 64")
    if not words:
        raise Error("the command names no program after the options of smpirun")
    return SmpiCommand(ranks, tuple(options), tuple(words))


def check_smpi_words(words: Sequence[str]) -> None:
    """Raise `topoloom.Error` for words of a program that smpirun would change.

    It is a shell script that splits them at spaces and expands patterns of file names.
    """
    for word in words:
        if word.split() != [word]:
            raise Error(
                f"smpirun cannot pass the word '{word}' to a program: it splits words "
                "at spaces, and drops empty ones"
            )
        if glob.glob(word) not in ([], [word]):  # noqa: PTH207
            raise Error(
                f"smpirun cannot pass the word '{word}' to a program: it replaces it "
                "by names of files"
            )


def _check_folder(path: str | Path, variable: str) -> None:
    if re.search(r"[\s*?\[]", str(path)):
        raise Error(
            f"smpirun cannot use '{path}', whose name has spaces or wildcards; set "
            f"{variable} to another directory"
        )


def run_in_smpi(launch: SmpiLaunch, trace: Path | None = None) -> SmpiRun:
    """Simulate a program, and write a Pajé trace of all its messages to `trace`.

    ``TMPDIR`` of the program is a directory that is deleted at the end. In others,
    smpirun would look for libraries that any user can write to.

    Raises `topoloom.Error` if SimGrid is missing, or a path contains spaces.
    """
    smpirun = shutil.which("smpirun")
    if smpirun is None:
        raise Error(
            "SimGrid is not installed: there is no smpirun on PATH; install "
            "libsimgrid-dev (Debian, Ubuntu)"
        )
    command = launch.command
    overhead = f"0:{launch.startup!r}:0"
    settings = [*_SETTINGS, *(f"smpi/{name}:{overhead}" for name in _OVERHEADS)]
    if trace is not None:
        settings += [*_TRACING, f"tracing/filename:{trace}"]
    with tempfile.TemporaryDirectory(prefix="topoloom-smpi-") as directory:
        _check_folder(directory, "TMPDIR")
        _check_folder(launch.preload, "XDG_CACHE_HOME")
        platform, hosts = Path(directory) / "platform.xml", Path(directory) / "hosts"
        platform.write_text(launch.platform, encoding="utf-8")
        lines = [f"{_host_name(node)}\n" for node in launch.node_of_rank]
        hosts.write_text("".join(lines), encoding="utf-8")
        words = [smpirun, "-np", str(command.ranks), "-platform", str(platform)]
        words += ["-hostfile", str(hosts), "--log=root.thresh:error"]
        words += ["--log=smpi_utils.thresh:info"]  # prints the simulated time
        words += [f"--cfg={setting}" for setting in settings]
        words += command.options
        if launch.preload:
            words += ["-wrapper", _preload(launch.preload, command.options)]
        done = subprocess.run(
            [*words, *command.program],
            env={**os.environ, **launch.environment, "TMPDIR": directory},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    # The program can print such a line, too; SimGrid's is the last one.
    clocks = _CLOCK.findall(done.stderr) or _CLOCK.findall(done.stdout)
    seconds = float(clocks[-1]) if clocks else None
    return SmpiRun(done.returncode, done.stdout, done.stderr, seconds)


def _preload(library: str, options: Sequence[str]) -> str:
    """Return the wrapper that preloads a library, in front of the user's wrapper."""
    words = ["env", f"LD_PRELOAD={library}"]
    if "-wrapper" in options:
        last = len(options) - 1 - options[::-1].index("-wrapper")
        words.append(options[last + 1])
    return " ".join(words)


def write_smpi_platform(machine: Machine, allocated: Sequence[int]) -> str:
    """Write a SimGrid platform of the allocated nodes and the routes between them.

    Raises `topoloom.Error` if there are more than 300 nodes, no bandwidths, or several
    routes between two nodes.
    """
    nodes = sorted(set(allocated))
    if len(nodes) > MAX_NODES:
        raise ParameterError(
            "allocation",
            f"has {len(nodes):,} nodes, but the routes between all pairs are written "
            f"for up to {MAX_NODES}; name fewer",
        )
    if not machine.has_bandwidths and machine.link_count:
        raise Error(
            f"{machine.name} has no bandwidths, so no time can be simulated; add them, "
            "such as 'bandwidth=10GB/s,latency=1us'"
        )
    hosts = {_host_name(node): node for node in nodes}
    routes = {
        (a, b): [] if a == b else find_single_route(machine, hosts[a], hosts[b])
        for a in hosts
        for b in hosts
    }
    inside = IntraHostLink(NO_LIMIT, machine.memory_startup)
    about = (machine.node_latency, machine.memory_bandwidth, 0.0, 1.0, "", inside)
    return write_routes(machine, hosts, routes, *about)


def _host_name(node: int) -> str:
    return f"node-{node}.topoloom"
