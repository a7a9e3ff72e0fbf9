# SPDX-License-Identifier: BSD-3-Clause
"""Decision tables and rankings equal the library's choice at run time."""

from __future__ import annotations

import ctypes
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from topoloom import Allocation, Machine, Placement
from topoloom.model import NetworkModel, load_model
from topoloom.model.message_lines import format_model
from topoloom.placements.placement_file import PlacementFile, save_placement
from topoloom.schedules import Call, RankSlots, Strategy, rank_schedules
from topoloom.support.resources import require_core_library
from topoloom.tasks.collectives.collective import CollectivePlatform, rank_collective

MACHINES = [
    "torus:4x4x4,bandwidth=10GB/s,latency=200ns",
    "tree:4:8,bandwidth=10GB/s:20GB/s+node:2,startup=1us",
    "fattree:4:4:2,bandwidth=25GB/s+node:1,startup=2us",
]
NUMBERS = {  # values of enum topoloom_operation in topoloom_schedules.h
    "bcast": 0,
    "reduce": 1,
    "scatter": 2,
    "gather": 3,
    "allgather": 4,
    "allreduce": 5,
    "reduce_scatter": 6,
    "alltoall": 7,
    "barrier": 8,
    "scan": 11,
    "exscan": 12,
}


class _SettingStruct(ctypes.Structure):
    _fields_ = (
        ("ranks", ctypes.c_size_t),
        ("machine", ctypes.c_char_p),
        ("placement", ctypes.c_char_p),
        ("decisions", ctypes.c_char_p),
        ("schedule", ctypes.c_char_p),
        ("seats", ctypes.POINTER(ctypes.c_int64)),
    )


class LibraryStrategy:
    """A strategy that libtopoloom reads from texts, as libtopoloom-collective does."""

    def __init__(self, ranks: int, **texts: str) -> None:
        self._core = ctypes.CDLL(str(require_core_library()))
        self._strategy = ctypes.c_void_p()
        given = {name: text.encode() for name, text in texts.items()}
        setting = _SettingStruct(ranks=ranks, **given)
        made = ctypes.byref(self._strategy)
        self._call_library("topoloom_strategy_make", ctypes.byref(setting), made)

    def choose(self, operation: str, size: int) -> str:
        """Return the name of the schedule chosen for a call."""
        schedule = ctypes.c_char_p()
        number, bytes_ = NUMBERS[operation], ctypes.c_int64(size)
        chosen = self._strategy, number, bytes_, 0, ctypes.byref(schedule)
        self._call_library("topoloom_strategy_choose", *chosen)
        assert schedule.value is not None
        return schedule.value.decode()

    def _call_library(self, name: str, *given: Any) -> None:
        error = ctypes.create_string_buffer(256)
        failed = self._core[name](*given, error, ctypes.c_size_t(256))
        assert not failed, error.value


class RandomCollective:
    """A random placement and random message costs, as Python objects and as files."""

    def __init__(self, seed: int, folder: Path) -> None:
        rng = random.Random(seed)
        self.operation = rng.choice(sorted(NUMBERS))
        self.ranks = rng.choice([2, 3, 8, 13, 16, 31, 32])
        named = rng.choice(["hdr", "simgrid", "qsnet"])
        self.model: NetworkModel | None = load_model(named).model
        self.slots = None
        self.texts = {}
        machine = Machine(rng.choice(MACHINES))
        if seed % 4:
            allocation = Allocation.whole(machine)
            where = rng.sample(allocation.slots.tolist(), self.ranks)
            self.slots = RankSlots(allocation, Placement(allocation, where))
            if seed % 4 == 1 and "startup" in machine.text:
                self.model = None
            file = folder / "placement.json"
            save_placement(file, PlacementFile(machine, *self.slots))
            self.texts["placement"] = file.read_text()
        if self.model is not None:
            self.texts["machine"] = format_model(self.model)
        self.call = Call(self.operation, self.ranks, self.draw_size(rng))
        self.sizes = [self.draw_size(rng) for _ in range(20)]

    def draw_size(self, rng: random.Random) -> int:
        """Draw a size; short and long sizes are equally likely."""
        return 0 if self.operation == "barrier" else int(2 ** rng.uniform(0, 24))


def find_decision(table: dict[str, Any], ranks: int, size: int) -> str:
    lines = [line for line in table["decisions"] if line["ranks"] == ranks]
    return [str(line["schedule"]) for line in lines if line["bytes"] <= size][-1]


@pytest.mark.parametrize("seed", range(24))
def test_decision_tables_equal_the_choices_of_the_library(
    seed: int, tmp_path: Path
) -> None:
    job = RandomCollective(seed, tmp_path)
    if job.slots is None:
        job.ranks = 1 << job.ranks.bit_length() - 1
        job.call = job.call._replace(ranks=job.ranks)
    ranked = rank_collective(job.call, CollectivePlatform(job.model, job.slots))
    table = ranked.decisions()
    library = LibraryStrategy(job.ranks, **job.texts)
    reading = LibraryStrategy(job.ranks, decisions=json.dumps(table), **job.texts)
    for size in job.sizes:
        chosen = library.choose(job.operation, size)
        assert find_decision(table, job.ranks, size) == chosen, (size, job.call)
        assert reading.choose(job.operation, size) == chosen


@pytest.mark.parametrize("seed", range(24))
def test_the_first_ranked_schedule_is_the_choice_of_the_library(
    seed: int, tmp_path: Path
) -> None:
    job = RandomCollective(seed, tmp_path)
    library = LibraryStrategy(job.ranks, **job.texts)
    for size in job.sizes[:4]:
        standing = Strategy.size_of(job.operation, 1 << size.bit_length() >> 1)
        call = job.call._replace(bytes=standing)
        first = rank_schedules(call, job.model, job.slots)[0]
        assert library.choose(job.operation, standing) == first.name


def test_operation_numbers_equal_the_c_header() -> None:
    header = Path(__file__).parents[3] / "core/topoloom/capi/topoloom_schedules.h"
    listed = re.search(r"enum topoloom_operation \{(.*?)\}", header.read_text(), re.S)
    assert listed
    names = re.findall(r"TOPOLOOM_([A-Z_]+)", listed[1])
    for name, number in NUMBERS.items():
        assert names[number] == name.upper().replace("-", "_")
