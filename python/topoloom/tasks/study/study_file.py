# SPDX-License-Identifier: BSD-3-Clause
"""Reads study files (TOML)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.support.files import prefix_errors
from topoloom.support.toml_document import HEADER_KEYS, check_header, read_toml
from topoloom.support.toml_values import check_keys, check_type
from topoloom.tasks.study.factors import (
    NAMED_FACTORS,
    Factor,
    make_factor,
    make_named_factor,
    split_words,
)

FORMAT, VERSION = "topoloom-study", 1
_TEXTS = ("command", "machine", "allocation", "design", "metric")


class StudyFile(NamedTuple):
    """The contents of a study file; None for keys that it does not have."""

    command: tuple[str, ...] = ()
    machine: str | None = None
    allocation: str | None = None
    factors: tuple[Factor, ...] = ()
    design: str | None = None
    repetitions: int | None = None
    metric: str | None = None


def read_study_file(path: str | Path) -> StudyFile:
    """Read a study file; errors name the file and the key."""
    table = read_toml(path)
    with prefix_errors(path):
        check_header(table, FORMAT, VERSION)
        check_keys(table, (*HEADER_KEYS, *_TEXTS, "repetitions", "factors"), "")
        given = {key: table[key] for key in _TEXTS if key in table}
        for key, value in given.items():
            check_type(value, str, key)
        command = split_words(given.pop("command", ""), "command")
        repetitions = table.get("repetitions")
        if "repetitions" in table and check_type(repetitions, int, "repetitions") < 1:
            raise Error(f"repetitions is {repetitions}, expected 1 or more")
        factors = _read_factors(check_type(table.get("factors", {}), dict, "factors"))
        return StudyFile(command, repetitions=repetitions, factors=factors, **given)


def _read_factors(table: Mapping[str, Any]) -> tuple[Factor, ...]:
    return tuple(_read_factor(name, value) for name, value in table.items())


def _read_factor(name: str, value: Any) -> Factor:
    if isinstance(value, Mapping):
        return make_factor(name, value)
    if name not in NAMED_FACTORS:
        raise Error(
            f"the factor '{name}' is not a table of levels, such as "
            f"[factors.{name}.LEVEL]; {', '.join(NAMED_FACTORS)} can be lists"
        )
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise Error(f"the factor '{name}' is not a list of strings")
    return make_named_factor(name, value)
