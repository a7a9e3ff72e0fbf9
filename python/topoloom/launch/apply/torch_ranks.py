# SPDX-License-Identifier: BSD-3-Clause
"""Where torchrun really started the ranks: each of its processes reports itself.

Python imports ``sitecustomize`` before a program begins; ours, which is found first by
PYTHONPATH, writes a file where torchrun's variables say that this process is a rank.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.exports import torchrun
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launchers.registry import read_command
from topoloom.launch.nearest_devices import nearest_gpu_numbers
from topoloom.support.files import shared_directory
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.plain_text import is_number
from topoloom.support.units import counted

_REPORTS = "TOPOLOOM_TORCH_RANKS"
_TORCHRUN = re.compile(r"(.*/)?torchrun|torch\.distributed\.(run|launch)")
_PYTHON = re.compile(r"(.*/)?python[0-9.]*")
#: what launchers start that starts torchrun
_STARTERS = re.compile(
    r"(.*/)?((ba|da|k|z)?sh|env|nice|timeout|numactl|taskset|stdbuf|time|conda|"
    r"apptainer|singularity|docker|podman|enroot|uv|.*\.sh)"
)

_HOOK = f"""\
import importlib.machinery
import importlib.util
import os
import re
import socket
import sys


def report():
    where = os.environ.get("{_REPORTS}")
    rank, local = os.environ.get("RANK", ""), os.environ.get("LOCAL_RANK", "")
    numbers = re.fullmatch("[0-9]+ [0-9]+", rank + " " + local)
    if where and numbers and "GROUP_RANK" in os.environ:
        names = (os.environ.get(name) for name in ("SLURMD_NODENAME", "NODE_NAME"))
        host = next(filter(None, names), None) or socket.gethostname()
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
        path = os.path.join(where, "rank-" + rank)
        with open(path + ".new", "w") as file:
            file.write("\\n".join([host, local, gpus]))
        os.replace(path + ".new", path)


try:
    report()
except OSError:
    pass
here = os.path.dirname(os.path.abspath(__file__))
rest = [path for path in sys.path if os.path.abspath(path or ".") != here]
spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
if spec is not None and spec.loader is not None:
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)
"""


class SeenRank(NamedTuple):
    """A rank as it reported itself: its host, and the GPU that it takes there.

    The GPU is the one in CUDA_VISIBLE_DEVICES, a number or a UUID, or the number of the
    process on the host where this is not set; empty where the rank sees none.
    """

    host: str
    gpu: str


def is_torchrun(command: Sequence[str]) -> bool:
    """Return whether a command starts torchrun: itself, by a launcher or a script."""
    if not any(_TORCHRUN.fullmatch(word) for word in _words(command)):
        return False
    try:
        parts = read_command(command).line.segments
    except Error:  # another launcher, or a script
        return _starts_torchrun(command, known=False)
    return any(_starts_torchrun(part.program, known=True) for part in parts)


def _words(command: Sequence[str]) -> list[str]:
    """Split what shells will split."""
    return [word.strip("'\"();&") for word in " ".join(command).split()]


def _starts_torchrun(program: Sequence[str], known: bool) -> bool:
    """Look for torchrun where a program is that, Python or what starts programs.

    What is not a `known` launcher is taken to start programs.
    """
    first, *others = program
    if _TORCHRUN.fullmatch(first):
        return True
    if _PYTHON.fullmatch(first):
        named = (word for word in others if not word.startswith("-"))
        return bool(_TORCHRUN.fullmatch(next(named, "")))
    if known and not _STARTERS.fullmatch(first):
        return False
    return any(_TORCHRUN.fullmatch(word) for word in _words(others))


def refuse_sorted_hosts(command: Sequence[str]) -> None:
    """Refuse a rendezvous of torchrun that gives ranks to hosts in an order of its own.

    Raises
    ------
    topoloom.Error
        For c10d and etcd; for one host, any order is the same.
    """
    text = " ".join(command)
    named = re.search(r"--rdzv[-_]backend[= ]\s*(\S+)", text)
    backend = named[1] if named else os.environ.get("PET_RDZV_BACKEND", "static")
    one = re.search(r"--nnodes[= ]\s*1(:1)?(\s|$)", text) or "--standalone" in text
    if backend != "static" and not one:
        raise Error(
            f"torchrun with the rendezvous {backend} keeps no order: "
            f"{torchrun.RELIES_ON}; write static, or leave the backend out"
        )


class TorchRanks:
    """A directory that ranks report to; close it in the end."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] = shared_directory("ranks")
        self._path = Path(self._directory.name).resolve()
        (self._path / "sitecustomize.py").write_text(_HOOK)

    @property
    def environment(self) -> dict[str, str]:
        """What to add to the environment of the command."""
        found = os.environ.get("PYTHONPATH")
        paths = os.pathsep.join([str(self._path), *([found] if found else [])])
        return {"PYTHONPATH": paths, _REPORTS: str(self._path)}

    def close(self) -> None:
        """Remove the directory."""
        self._directory.cleanup()

    def seen(self) -> dict[int, SeenRank]:
        """Read what ranks have reported."""
        found = {}
        for path in self._path.glob("rank-*"):
            rank = path.name.removeprefix("rank-")
            if not is_number(rank):
                continue
            host, local, visible = path.read_text().split("\n")
            found[int(rank)] = SeenRank(host, _gpu(visible, int(local)))
        return found


def _gpu(visible: str, local: int) -> str:
    """Find the GPU of a process; those from a wrong number on are not seen."""
    if visible == "all":
        return str(local)
    gpus = [word.strip() for word in visible.split(",")]
    own = gpus[local] if local < len(gpus) else ""
    return str(int(own)) if is_number(own) else "" if own.startswith("-") else own


class Compared(NamedTuple):
    """Ranks as they are, beside those of a placement.

    Attributes
    ----------
    elsewhere
        A line for each rank that is not where it is planned.
    slots
        The slot of every rank on the machine; None where one is not known.
    by_host
        Ranks of which only the host was compared, since UUIDs name their GPUs.
    """

    elsewhere: list[str]
    slots: list[int] | None
    by_host: int


def compare_ranks(placement: HostPlacement, seen: dict[int, SeenRank]) -> Compared:
    """Compare the ranks that reported themselves with where they are planned.

    Raises
    ------
    topoloom.Error
        If none did, or their number differs.
    """
    if not seen:
        raise Error(
            "no process reported itself as a rank of torchrun; do its hosts see this "
            "directory, and does Python start without -I and -S?"
        )
    if len(seen) != placement.rank_count:
        raise Error(
            f"torchrun started {counted(len(seen), 'rank')}, but the placement is for "
            f"{placement.rank_count}"
        )
    if max(seen) >= placement.rank_count:
        raise Error(
            f"torchrun started the ranks {compress_ranges(sorted(seen))}, but the "
            f"placement is for 0-{placement.rank_count - 1}; start it on all hosts"
        )
    gpus = nearest_gpu_numbers(placement) or placement.slot.tolist()
    short = {host.partition(".")[0]: i for i, host in enumerate(placement.hosts)}
    at = {
        (int(host), str(gpu)): int(slot)
        for host, gpu, slot in zip(
            placement.host, gpus, placement.machine_slot, strict=True
        )
    }
    lines, slots, by_host = list[str](), list[int | None](), 0
    for rank, one in sorted(seen.items()):
        host = short.get(one.host.partition(".")[0])
        slots.append(None if host is None else at.get((host, one.gpu)))
        planned = int(placement.host[rank])
        named = bool(one.gpu) and not is_number(one.gpu)
        by_host += named
        if host != planned or not (named or one.gpu == str(gpus[rank])):
            gpu = f"GPU {one.gpu}" if one.gpu else "without a GPU"
            lines.append(
                f"rank {rank} is on {one.host}, {gpu}; planned: "
                f"{placement.hosts[planned]}, GPU {gpus[rank]}"
            )
    known = [slot for slot in slots if slot is not None]
    whole = len(known) == len(slots) == len(set(known))
    return Compared(lines, known if whole else None, by_host)
