# SPDX-License-Identifier: BSD-3-Clause
"""Wrong calls of the core give a one-line error with argument and allowed values."""

from __future__ import annotations

import importlib
import inspect
import pydoc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topoloom
from topoloom import Allocation, Machine, Placement, _core, judge, place
from topoloom.allocations import fragmented_allocation
from topoloom.graphs import ring, stencil
from topoloom.support.call_errors import describe_call_error
from topoloom.support.public_names import find_defining_modules, list_public_packages

GRAPH: Any = ring(4, 10)
MACHINE: Any = Machine("torus:4x4")
ALLOCATION: Any = Allocation.whole(MACHINE)
FOUND: Any = place(GRAPH, ALLOCATION)

FUNCTIONS = [
    getattr(importlib.import_module(package), name)
    for package in list_public_packages()
    for name, home in find_defining_modules(package).items()
    if home == "topoloom._core"
    and hasattr(getattr(importlib.import_module(package), name), "__signature__")
]


def catch_message(call: Any) -> str:
    with pytest.raises(TypeError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda: place(GRAPH, ALLOCATION, mapper=3),  # type: ignore[arg-type]
            "place(): mapper must be a str, not int 3",
        ),
        (
            lambda: place(GRAPH, MACHINE),
            "place(): allocation must be an Allocation, not Machine; for the whole "
            "machine, pass Allocation.whole(machine)",
        ),
        (
            lambda: place("p.npz", ALLOCATION),  # type: ignore[arg-type]
            "place(): graph must be a CommGraph, not str 'p.npz'; load it with "
            "topoloom.load_graph(path)",
        ),
        (
            lambda: judge(Path("p.npz"), ALLOCATION, FOUND.placement),  # type: ignore[arg-type]
            f"judge(): graph must be a CommGraph, not {type(Path()).__name__}; load it "
            "with topoloom.load_graph(path)",
        ),
        (
            lambda: judge(GRAPH, ALLOCATION, [0, 1, 2, 3]),  # type: ignore[arg-type]
            "judge(): placement must be a Placement, not list; make it with "
            "Placement(allocation, slots)",
        ),
        (
            lambda: judge(GRAPH, ALLOCATION, FOUND),
            "judge(): placement must be a Placement, not PlaceResult; pass its "
            ".placement",
        ),
        (
            lambda: fragmented_allocation("torus:4x4", 4, 2, 1),  # type: ignore[arg-type]
            "fragmented_allocation(): machine must be a Machine, not str 'torus:4x4'; "
            "make it with topoloom.load_machine(text)",
        ),
    ],
)
def test_errors_of_common_wrong_calls_suggest_the_correct_call(
    call: Any, line: str
) -> None:
    assert catch_message(call) == line


def test_an_unknown_argument_suggests_the_nearest() -> None:
    options: Any = {"second": 3}
    assert "no argument 'second' (did you mean 'seconds'?)" in catch_message(
        lambda: place(GRAPH, ALLOCATION, **options)
    )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_function_refuses_wrong_types_in_one_line(function: Any) -> None:
    """Passes an unknown type for each argument, no argument, or one too many."""

    class UnknownType:
        pass

    parameters = inspect.signature(function).parameters
    calls: list[dict[str, Any]] = [{name: UnknownType()} for name in parameters]
    for options in [*calls, {"nobody_knows_this": 1}]:
        line = catch_message(lambda options=options: function(**options))
        assert line.startswith((f"{function.__name__}()", *options))
        assert "\n" not in line
        assert "_core" not in line
    assert FUNCTIONS


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_accepted_types_are_readable(function: Any) -> None:
    assert inspect.getdoc(function)
    text = pydoc.render_doc(function, renderer=pydoc.TextDoc())
    for name in inspect.signature(function).parameters:
        assert name in text
    assert "ndarray[" not in text


def test_the_help_of_place_has_each_parameter_with_its_default() -> None:
    text = inspect.getdoc(place) or ""
    for name, parameter in inspect.signature(place).parameters.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{name} : "))
        given = parameter.default
        assert ("default" in line) == (given is not parameter.empty)
        if isinstance(given, str | int):
            assert f"default {given!r}" in line
    for name, unit in {"seconds": "seconds", "migration_cost": "bytes"}.items():
        assert f"\n{name} : " in text
        assert unit in text.partition(f"\n{name} : ")[2].partition("\n")[0]


def test_valid_calls_are_accepted() -> None:
    slots = np.arange(4, dtype=np.uint32)
    placement = Placement(ALLOCATION, slots)
    judged = judge(GRAPH, ALLOCATION, placement, hottest=1)
    assert judged.hop_bytes == topoloom.judge(GRAPH, ALLOCATION, placement).hop_bytes


def list_core_calls() -> list[Any]:
    """List the functions, constructors and methods of the core with one signature."""
    owners = [one for one in vars(_core).values() if isinstance(one, type)]
    found = [call for owner in [_core, *owners] for call in vars(owner).values()]
    return [call for call in found if len(getattr(call, "__nb_signature__", ())) == 1]


def test_unknown_arguments_of_every_core_function_are_named() -> None:
    calls = list_core_calls()
    assert len(calls) > 100
    for call in calls:
        name = call.__qualname__.removesuffix(".__init__")
        line = describe_call_error(call, [], {"no such argument": 1})
        assert line.startswith(f"{name}(): there is no argument"), call.__qualname__


@pytest.mark.parametrize(
    ("name", "value"), [("seed", -1), ("seed", 2**64), ("work", -1)]
)
def test_numbers_out_of_range_are_named(name: str, value: int) -> None:
    allocation = Allocation.whole(Machine("torus:2x2"))
    with pytest.raises(TypeError, match=rf"^place\(\): {name} is {value}, which"):
        place(ring(4), allocation, **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "is_stopped"),
    [
        *((on, False) for on in (None, True, 1, np.True_)),
        *((end, True) for end in (False, 0, np.False_)),
    ],
)
def test_a_callback_can_return_any_truth_value(result: Any, is_stopped: bool) -> None:
    allocation = Allocation.whole(Machine("torus:4x4"))
    graph = stencil([4, 4], 9, bytes=1000)
    mapper = "block+tabu(iterations=2000)"
    found = place(graph, allocation, mapper, progress=lambda work: result)
    whole = place(graph, allocation, mapper)
    assert (found.work < whole.work) == is_stopped
