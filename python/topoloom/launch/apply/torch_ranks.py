# SPDX-License-Identifier: BSD-3-Clause
"""Reads the actual host and GPU of PyTorch ranks from their own reports.

`torch_report.py` writes the reports; it runs at the start of each Python process.
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
from topoloom.launch.nearest_devices import list_nearest_gpu_numbers
from topoloom.support.files import make_shared_directory
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.plain_text import is_number
from topoloom.support.site_injection import inject
from topoloom.support.units import counted

_NVIDIA = re.compile(r"^(?:GPU ([0-9]+):)?.*\(UUID: ((?:GPU|MIG)-[^)]+)\)", re.M)
_AMD = re.compile(r"^\s*Uuid:\s*(GPU-\S+)", re.M)
#: Placeholder for devices without UUID, as rocminfo prints it.
_NO_UUID = "GPU-XX"


class ReportedRank(NamedTuple):
    """The location of a rank according to its own report.

    Attributes
    ----------
    host
        Host name of the rank.
    gpu
        Number of the rank's GPU on the host, or its UUID if the number is unknown;
        empty if the rank has no visible GPU.
    uuid UUID of the GPU or MIG instance, if nvidia-smi, rocminfo or PyTorch reports it.
    used Whether PyTorch has used this GPU. If not, `gpu` is the entry with index
    LOCAL_RANK in CUDA_VISIBLE_DEVICES, or in AMD's variables.
    """

    host: str
    gpu: str
    uuid: str = ""
    used: bool = False


class GpuList:
    """The GPUs of a host, as ``nvidia-smi -L`` or ``rocminfo`` lists them."""

    def __init__(self, listed: str = "") -> None:
        self._number: dict[str, str] = {}
        number = ""
        for named, uuid in _NVIDIA.findall(listed):
            number = named or number  # MIG instances are listed after their GPU
            self._number[uuid] = number
        for place, uuid in enumerate(_AMD.findall(listed)):
            if uuid != _NO_UUID:
                self._number[uuid] = str(place)

    def find_gpu(self, uuid: str) -> tuple[str, str]:
        """Find the number and the full UUID of a GPU from a prefix of the UUID.

        An old MIG instance name, MIG-GPU-UUID/1/0, is resolved to its GPU.
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

    def find_uuid(self, number: str) -> str:
        """Return the UUID of a whole GPU; empty if unknown."""
        found = (uuid for uuid, n in self._number.items() if n == number)
        return next((uuid for uuid in found if uuid.startswith("GPU-")), "")


class RankReportFolder:
    """Directory for the reports of ranks; the caller must close it."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] = make_shared_directory(
            "ranks"
        )
        self._path = Path(self._directory.name).resolve()
        source = Path(__file__).with_name("torch_report.py")
        self._environment = {**inject(source, self._path), REPORTS: str(self._path)}

    @property
    def environment(self) -> dict[str, str]:
        """Variables to add to the environment of the command."""
        return self._environment

    def close(self) -> None:
        """Remove the directory and its reports."""
        self._directory.cleanup()

    def read_reports(self) -> dict[int, ReportedRank]:
        """Read the reports of ranks.

        If no process has the variable RANK, the launcher's processes are the ranks.
        """
        return self._read_reports("rank-") or self._read_reports("task-")

    def _read_reports(self, prefix: str) -> dict[int, ReportedRank]:
        found = {}
        for path in self._path.glob(prefix + "*"):
            rank = path.name.removeprefix(prefix)
            if not is_number(rank):
                continue
            about = json.loads(path.read_text(encoding="utf-8"))
            used = path.with_name(path.name + ".used")
            by_torch = (
                json.loads(used.read_text(encoding="utf-8")) if used.exists() else None
            )
            listed = self._path / ("gpus-" + about["host"].replace("/", "_"))
            gpus = GpuList(
                listed.read_text(encoding="utf-8") if listed.exists() else ""
            )
            found[int(rank)] = read_rank(about, by_torch, gpus)
        return found


def read_rank(
    about: Mapping[str, Any], by_torch: Mapping[str, Any] | None, gpus: GpuList
) -> ReportedRank:
    """Find the GPU of a rank by the UUID that PyTorch reported, or by index."""
    host, used = about["host"], by_torch is not None
    if by_torch and by_torch["uuid"]:
        number, uuid = gpus.find_gpu(by_torch["uuid"])
        if number:
            return ReportedRank(host, number, uuid, used)
    lists = [
        about[name]
        for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
        if name in about
    ]
    if "HIP_VISIBLE_DEVICES" not in about and "CUDA_VISIBLE_DEVICES" in about:
        lists.append(about["CUDA_VISIBLE_DEVICES"])
    place = by_torch["device"] if by_torch else about["local"]
    if not used and not about["by_torchrun"] and lists and "," not in lists[-1]:
        place = 0  # the launcher assigned one GPU to each rank
    gpu = str(place)
    for visible in reversed(lists):  # entries are indices into the list before
        gpu = _select_visible_gpu(visible, int(gpu))
        if not is_number(gpu):
            break
    if is_number(gpu):
        return ReportedRank(host, gpu, gpus.find_uuid(gpu), used)
    number, uuid = gpus.find_gpu(gpu) if gpu else ("", "")
    return ReportedRank(host, number or gpu, uuid, used)


def _select_visible_gpu(listed: str, place: int) -> str:
    """Return an entry of a list of visible GPUs; "" if it is missing or negative."""
    gpus = [word.strip() for word in listed.split(",")]
    own = gpus[place] if place < len(gpus) else ""
    return str(int(own)) if is_number(own) else "" if own.startswith("-") else own


class RankComparison(NamedTuple):
    """Actual ranks compared with a placement.

    Attributes
    ----------
    mismatches
        One line for each rank that is not at its planned location.
    slots
        Actual slot of each rank on the machine; None if any slot is unknown.
    host_only
        Number of ranks compared by host only, because the GPU's UUID is known but not
        its number.
    """

    mismatches: list[str]
    slots: list[int] | None
    host_only: int


def compare_ranks(
    placement: HostPlacement, seen: dict[int, ReportedRank]
) -> RankComparison:
    """Compare reported ranks with the placement.

    Raises
    ------
    topoloom.Error
        If there are no reports, or the number of ranks differs.
    """
    if not seen:
        raise Error(
            "no rank wrote a report; check that all hosts share this directory, that "
            "Python starts without -I and -S, and that the launcher sets RANK and "
            "LOCAL_RANK"
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
    gpus = list_nearest_gpu_numbers(placement) or placement.slot.tolist()
    short = {host.partition(".")[0]: i for i, host in enumerate(placement.hosts)}
    at = {
        (int(host), str(gpu)): int(slot)
        for host, gpu, slot in zip(
            placement.host, gpus, placement.machine_slot, strict=True
        )
    }
    lines, slots, host_only = list[str](), list[int | None](), 0
    for rank, one in sorted(seen.items()):
        host = short.get(one.host.partition(".")[0])
        slots.append(None if host is None else at.get((host, one.gpu)))
        planned = int(placement.host[rank])
        named = bool(one.gpu) and not is_number(one.gpu)
        host_only += named
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
    return RankComparison(lines, known if whole else None, host_only)
