# SPDX-License-Identifier: BSD-3-Clause
"""Wrong types passed to public Python functions give a one-line error."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom import figure, load_machine, tasks
from topoloom.support.argument_types import _describe_mismatch, _resolve_annotation
from topoloom.support.public_names import find_defining_modules, list_public_packages

FUNCTIONS = [
    getattr(importlib.import_module(package), name)
    for package in list_public_packages()
    for name, home in find_defining_modules(package).items()
    if home not in (package, "topoloom._core")
    and inspect.isfunction(function := getattr(importlib.import_module(package), name))
    and inspect.signature(function).parameters
]


class UnknownType:
    """A type that no function accepts."""


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_argument_has_a_type_that_is_checked(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    inside = inspect.unwrap(function).__globals__
    for name, parameter in parameters.items():
        hint = _resolve_annotation(parameter.annotation, inside)
        assert _describe_mismatch(name, UnknownType(), hint).startswith(
            f"{name} must be "
        )
    with pytest.raises(TypeError) as error:
        function(**dict.fromkeys(parameters, UnknownType()))
    line = str(error.value)
    assert line.startswith(f"{function.__name__}(): {next(iter(parameters))} must be")
    assert "\n" not in line


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda: load_machine(5),  # type: ignore[arg-type]
            "load_machine(): text must be a str | Path, not int 5",
        ),
        (
            lambda: tasks.load_nodes("torus:3", tasks.AllocationSpec(nodes="3")),  # type: ignore[arg-type]
            "load_nodes(): where.nodes must be an int | None, not str '3'",
        ),
        (
            lambda: figure.draw_comparison("x.svg", ["a", 3], "a", [], ""),  # type: ignore[list-item]
            "draw_comparison(): mappers[1] must be a str, not int 3",
        ),
        (
            lambda: figure.draw_judgement("x.svg", None, None, {}),  # type: ignore[arg-type]
            "draw_judgement(): graph must be a CommGraph, not NoneType",
        ),
        (
            lambda: load_machine("torus:3", texts=1),  # type: ignore[call-arg]
            "load_machine(): there is no argument 'texts' (did you mean 'text'?); it "
            "takes text",
        ),
    ],
)
def test_a_part_of_an_argument_is_named(call: Any, line: str) -> None:
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == line


def test_numbers_of_numpy_are_numbers() -> None:
    assert not _describe_mismatch("x", np.int64(3), int)
    assert not _describe_mismatch("x", np.float32(3), float)
    assert not _describe_mismatch("x", 3, float)
    assert _describe_mismatch("x", 3.5, int) == "x must be an int, not float 3.5"
    assert not _describe_mismatch("x", np.arange(3), Sequence[int])


def test_an_object_with_all_attributes_of_an_interface_is_accepted(
    tmp_path: Path,
) -> None:
    loads = np.array([3, 1])
    plans = {"": tasks.balance(loads, method="alias")}
    figure.draw_plan(tmp_path / "plan.svg", loads, plans)
    with pytest.raises(TypeError, match="must be a Plan"):
        figure.draw_plan(tmp_path / "plan.svg", loads, {"": loads})  # type: ignore[dict-item]
