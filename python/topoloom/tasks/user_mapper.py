# SPDX-License-Identifier: BSD-3-Clause
"""Loads and calls user mappers: functions in Python or in a shared library."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from topoloom._core import (
    Allocation,
    CommGraph,
    Error,
    Evaluator,
    Machine,
    Placement,
    Sharing,
    call_mapper,
    slot_capacities,
)
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.resources import find_shipped_folder
from topoloom.tasks.fixed_ranks import NO_FIXED_RANKS
from topoloom.tasks.objective import Objective
from topoloom.tasks.search import UNLIMITED, Progress, Search, always_continue
from topoloom.tasks.sharing import has_shared_slots

#: Matches `mine.py:function` and `libmine.so:function` of the command line.
_TEXT = re.compile(r"(?P<path>.+\.(py|so|dylib)):(?P<function>[A-Za-z_]\w*)")
_FILE = re.compile(r".+\.(py|so|dylib)")


@dataclass(frozen=True)
class MapperProblem:
    """The problem that a user mapper solves.

    Attributes
    ----------
    graph
        The communication graph.
    allocation
        The slots that ranks may use, on `machine`.
    objective
        The objective, with phases and background traffic.
    load, capacity
        Load of every rank, and capacity of each slot of the allocation. The load of
        the ranks on a slot must not exceed its capacity. All 1 unless ranks share
        slots.
    shared
        Whether ranks share slots.
    fixed
        Slots of the ranks that must be on given slots.
    search
        The seed, and the limits that the mapper should respect.
    go_on
        Progress callback, to be called from time to time with the work done so far. If
        it returns False, the mapper should return its best placement.
    """

    graph: CommGraph
    allocation: Allocation
    objective: Objective
    load: npt.NDArray[np.int64]
    capacity: npt.NDArray[np.int64]
    shared: bool
    search: Search = UNLIMITED
    fixed: Mapping[int, int] = field(default_factory=dict)
    go_on: Progress = always_continue

    @property
    def machine(self) -> Machine:
        """The machine of the allocation."""
        return self.allocation.machine

    def evaluator(self, slots: Any) -> Evaluator:
        """Return an incremental evaluator of the objective for a placement or slots."""
        return Evaluator(
            self.graph,
            self.allocation,
            self.placement(slots),
            **self.objective.options,
        )

    def placement(self, slots: Any) -> Placement:
        """Convert a placement, or an array with the slot of every rank, and check it.

        Raises
        ------
        Error
            If ranks are missing, or slots are not allocated or their capacity is
            exceeded, or a fixed rank is on another slot.
        """
        if isinstance(slots, Placement):
            if slots.machine_text != self.machine.text:
                raise Error(
                    f"the placement was made for another machine, "
                    f"'{slots.machine_text}', not for '{self.machine.text}'"
                )
            slots = slots.slots
        elif not isinstance(slots, (np.ndarray, list, tuple, range)):
            raise Error(
                f"a {type(slots).__name__} is neither a Placement nor an array of slots"
            )
        found = Placement(self.allocation, slots, shared=self.shared)
        if len(found.slots) != self.graph.rank_count:
            raise Error(
                f"{len(found.slots)} slots for {self.graph.rank_count} ranks; "
                "expected one for each"
            )
        self._check_loads(found)
        for rank, slot in self.fixed.items():
            if found.slots[rank] != slot:
                raise Error(
                    f"rank {rank} is on slot {found.slots[rank]}, but is fixed on slot "
                    f"{slot}"
                )
        return found

    def _check_loads(self, found: Placement) -> None:
        held = np.zeros(self.machine.slot_count, np.int64)
        np.add.at(held, found.slots, self.load)
        over = np.flatnonzero(held[self.allocation.slots] > self.capacity)
        if len(over):
            slot = self.allocation.slots[over[0]]
            raise Error(
                f"the ranks on slot {slot} have a load of {held[slot]}, but its "
                f"capacity is {self.capacity[over[0]]}"
            )


#: Function that returns a placement, or the slot of every rank.
MapperFunction = Callable[[MapperProblem], Any]


@dataclass(frozen=True)
class UserMapper:
    """The name and the function of a user mapper."""

    name: str
    function: MapperFunction

    def place(self, problem: MapperProblem) -> Placement:
        """Call the function; convert exceptions to errors with the mapper's name."""
        folder = Path.cwd()
        try:
            return problem.placement(self.function(problem))
        except Error as error:
            raise Error(f"mapper {self.name}: {_format_message(error)}") from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Error(
                f"mapper {self.name} raised {type(error).__name__}"
                f"{_format_message(error, ': ')}{_format_error_location(error)}"
            ) from error
        finally:
            os.chdir(folder)


def make_user_problem(
    graph: CommGraph,
    allocation: Allocation,
    objective: Objective,
    sharing: Sharing,
    search: Search,
    fixed: Mapping[int, int] = NO_FIXED_RANKS,
    progress: Progress = always_continue,
) -> MapperProblem:
    """Make the `MapperProblem` for a user mapper."""
    load, capacity = slot_capacities(graph, allocation, sharing)
    shared = has_shared_slots(sharing, graph, allocation)
    return MapperProblem(
        graph, allocation, objective, load, capacity, shared, search, fixed, progress
    )


def is_user_mapper(text: str) -> bool:
    """Return whether a text is ``FILE:function``; raise an error for a file alone."""
    if _FILE.fullmatch(text):
        raise Error(f"mapper '{text}' has no function; add one: '{text}:FUNCTION'")
    return _TEXT.fullmatch(text) is not None


def load_mapper(text: str) -> UserMapper:
    """Load the mapper that ``mine.py:function`` names; the file is executed.

    In a shared library, ``libmine.so:function``, the function is a `topoloom_mapper` of
    topoloom_mapper.h.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise Error(f"mapper '{text}' is not FILE:function, such as mine.py:place")
    path = Path(match["path"])
    if not path.is_file():
        raise Error(f"the mapper file {path} does not exist")
    load = _load_python_mapper if path.suffix == ".py" else _load_library_mapper
    return UserMapper(text, load(path, match["function"]))


def _load_python_mapper(path: Path, function: str) -> MapperFunction:
    spec = importlib.util.spec_from_file_location(f"topoloom_own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module by name
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise Error(
            f"{path} raised {type(error).__name__}{_format_message(error, ': ')}"
            f"{_format_error_location(error)}"
        ) from error
    found = getattr(module, function, None)
    if found is None:
        known = [name for name, one in vars(module).items() if callable(one)]
        raise Error(f"{path}: " + describe_unknown_name("function", function, known))
    if not callable(found):
        raise Error(f"{path}: {function} is not a function")
    loaded: MapperFunction = found
    return loaded


def mapper_header() -> Path:
    """Find the folder of topoloom_mapper.h, which mappers in C and C++ include."""
    return find_shipped_folder("core/topoloom/capi")


def _load_library_mapper(path: Path, function: str) -> MapperFunction:
    """Load a function of type `topoloom_mapper` from a shared library."""
    try:
        library = ctypes.CDLL(str(path.resolve()))
    except OSError as error:
        raise Error(f"{path} cannot be loaded: {_format_message(error)}") from None
    try:
        found = getattr(library, function)
    except AttributeError:
        raise Error(
            f'{path} has no function {function}; in C++, is it extern "C"?'
        ) from None
    address = ctypes.cast(found, ctypes.c_void_p).value
    assert address is not None

    def call(problem: MapperProblem) -> list[int]:
        search = problem.search
        return call_mapper(
            address,
            problem.graph,
            problem.allocation,
            **problem.objective.options,
            load=problem.load,
            capacity=problem.capacity,
            shared=problem.shared,
            seed=search.seed,
            seconds=search.seconds,
            work=search.work,
            progress=problem.go_on,
        )

    return call


def _format_message(error: BaseException, before: str = "") -> str:
    try:
        words = str(error).split()
    except Exception:  # str() of a user's exception may raise
        words = []
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(words))
    return before + text if text else ""


def _format_error_location(error: BaseException) -> str:
    """Format the file and line in the user's code that raised an error."""
    frames = traceback.extract_tb(error.__traceback__)
    here = str(Path(__file__))
    theirs = [f for f in frames if f.filename != here and "<frozen" not in f.filename]
    in_file = [f for f in theirs if f.filename == theirs[0].filename]
    return f" ({in_file[-1].filename}:{in_file[-1].lineno})" if in_file else ""
