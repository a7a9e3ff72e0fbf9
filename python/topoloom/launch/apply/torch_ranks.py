# SPDX-License-Identifier: BSD-3-Clause
"""Where the ranks of a PyTorch job really are: each of its processes reports itself.

`torch_report.py` runs in each Python before its program and writes files, which are
read here.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.launch.apply.torch_report import REPORTS
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_gpu_numbers
from topoloom.support.files import shared_directory
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.plain_text import is_number
from topoloom.support.site_injection import inject
from topoloom.support.units import counted

_NVIDIA = re.compile(r"^(?:GPU ([0-9]+):)?.*\(UUID: ((?:GPU|MIG)-[^)]+)\)", re.M)
_AMD = re.compile(r"^\s*Uuid:\s*(GPU-\S+)", re.M)
#: what has no number of its own
_NO_UUID = "GPU-XX"


class SeenRank(NamedTuple):
    """A rank as it reported itself.

    Attributes
    ----------
    host
        Its host.
    gpu
        The number of its GPU there, or the UUID where no tool gives the number; empty
        where it sees none.
    uuid
        The UUID of the GPU or of its MIG instance, where a tool or PyTorch gives it.
    used
        Whether PyTorch has used this GPU. Otherwise it is the one in
        CUDA_VISIBLE_DEVICES, or the like of AMD, at the rank's place on its host.
    """

    host: str
    gpu: str
    uuid: str = ""
    used: bool = False


class Gpus:
    """The GPUs of a host, as ``nvidia-smi -L`` or ``rocminfo`` lists them."""

    def __init__(self, listed: str = "") -> None:
        self._number: dict[str, str] = {}
        number = ""
        for named, uuid in _NVIDIA.findall(listed):
            number = named or number  # MIG instances follow their GPU
            self._number[uuid] = number
        for place, uuid in enumerate(_AMD.findall(listed)):
            if uuid != _NO_UUID:
                self._number[uuid] = str(place)

    def find(self, uuid: str) -> tuple[str, str]:
        """Find the number and the whole UUID, of which the beginning is enough.

        The old name of a MIG instance, MIG-GPU-UUID/1/0, is one of its GPU.
        """
        old = re.fullmatch(r"MIG-(GPU-.*)/[0-9]+/[0-9]+", uuid)
        start = old[1] if old else uuid
        found = [
            (number, whole)
            for whole, number in self._number.items()
            if whole.startswith(start) or whole.partition("-")[2] == start
        ]
        if len(found) != 1:
            return "", uuid
        return found[0][0], uuid if old else found[0][1]

    def uuid(self, number: str) -> str:
        """Give the UUID of a whole GPU; empty where it is not known."""
        of = (uuid for uuid, n in self._number.items() if n == number)
        return next((uuid for uuid in of if uuid.startswith("GPU-")), "")


class TorchRanks:
    """A directory that ranks report to; close it in the end."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] = shared_directory("ranks")
        self._path = Path(self._directory.name).resolve()
        source = Path(__file__).with_name("torch_report.py")
        self._environment = {**inject(source, self._path), REPORTS: str(self._path)}

    @property
    def environment(self) -> dict[str, str]:
        """What to add to the environment of the command."""
        return self._environment

    def close(self) -> None:
        """Remove the directory."""
        self._directory.cleanup()

    def seen(self) -> dict[int, SeenRank]:
        """Read what ranks have reported.

        Processes of a launcher are ranks where none has the variable RANK.
        """
        return self._seen("rank-") or self._seen("task-")

    def _seen(self, prefix: str) -> dict[int, SeenRank]:
        found = {}
        for path in self._path.glob(prefix + "*"):
            rank = path.name.removeprefix(prefix)
            if not is_number(rank):
                continue
            about = json.loads(path.read_text())
            used = path.with_name(path.name + ".used")
            by_torch = json.loads(used.read_text()) if used.exists() else None
            listed = self._path / ("gpus-" + about["host"].replace("/", "_"))
            gpus = Gpus(listed.read_text() if listed.exists() else "")
            found[int(rank)] = read_rank(about, by_torch, gpus)
        return found


def read_rank(
    about: Mapping[str, Any], by_torch: Mapping[str, Any] | None, gpus: Gpus
) -> SeenRank:
    """Find the GPU of a rank: by the UUID that PyTorch has used, or by its place."""
    host, used = about["host"], by_torch is not None
    if by_torch and by_torch["uuid"]:
        number, uuid = gpus.find(by_torch["uuid"])
        if number:
            return SeenRank(host, number, uuid, used)
    lists = [
        about[name]
        for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
        if name in about
    ]
    if "HIP_VISIBLE_DEVICES" not in about and "CUDA_VISIBLE_DEVICES" in about:
        lists.append(about["CUDA_VISIBLE_DEVICES"])
    place = by_torch["device"] if by_torch else about["local"]
    if not used and not about["by_torchrun"] and lists and "," not in lists[-1]:
        place = 0  # a launcher has given each rank its own GPU
    gpu = str(place)
    for visible in reversed(lists):  # each has places in the one before it
        gpu = _visible(visible, int(gpu))
        if not is_number(gpu):
            break
    if is_number(gpu):
        return SeenRank(host, gpu, gpus.uuid(gpu), used)
    number, uuid = gpus.find(gpu) if gpu else ("", "")
    return SeenRank(host, number or gpu, uuid, used)


def _visible(listed: str, place: int) -> str:
    """Take a GPU of a list; those from a wrong number on are not seen."""
    gpus = [word.strip() for word in listed.split(",")]
    own = gpus[place] if place < len(gpus) else ""
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
        Ranks of which only the host was compared, since no tool gives the number of a
        GPU that a UUID names.
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
            "no process reported itself as a rank; do its hosts see this directory, "
            "does Python start without -I and -S, and does the launcher set RANK and "
            "LOCAL_RANK?"
        )
    if len(seen) != placement.rank_count:
        raise Error(
            f"the job started {counted(len(seen), 'rank')}, but the placement is for "
            f"{placement.rank_count}"
        )
    if max(seen) >= placement.rank_count:
        raise Error(
            f"the job started the ranks {compress_ranges(sorted(seen))}, but the "
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
            if one.uuid and not named:
                gpu += f" ({one.uuid})"
            lines.append(
                f"rank {rank} is on {one.host}, {gpu}; planned: "
                f"{placement.hosts[planned]}, GPU {gpus[rank]}"
            )
    known = [slot for slot in slots if slot is not None]
    whole = len(known) == len(slots) == len(set(known))
    return Compared(lines, known if whole else None, by_host)
