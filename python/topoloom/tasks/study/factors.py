# SPDX-License-Identifier: BSD-3-Clause
"""The factors of a study, and the settings that their levels change."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.preload.collectives import parse_settings

#: Levels that change nothing: the launcher's order, and MPI's own collectives.
LAUNCHER, LIBRARY = "launcher", "library"
#: The level that replaces MPI's collectives with default settings.
REPLACED = "topoloom"
#: Factors whose levels are values of the setting of that name.
NAMED_FACTORS = ("placement", "collectives", "machine", "allocation")
_SETTINGS = ("mapper", "collectives", "machine", "allocation")
_COMMAS = re.compile(r",(?![^()\[\]]*[)\]])")


class Settings(NamedTuple):
    """Changes to the command as typed; None leaves a setting unchanged.

    `collectives` are options of libtopoloom-collective, `arguments` are appended to the
    command, and `environment` is added to the environment of the launcher.
    """

    mapper: str | None = None
    collectives: Mapping[str, str] | None = None
    machine: str | None = None
    allocation: str | None = None
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}


class Level(NamedTuple):
    """A level of a factor, and the settings that it changes."""

    name: str
    settings: Settings


class Factor(NamedTuple):
    """A factor and its levels; the first level is the baseline."""

    name: str
    levels: tuple[Level, ...]


def parse_factor(text: str) -> Factor:
    """Parse ``NAME=LEVEL,LEVEL``; commas inside () and [] belong to a level.

    Levels of factors other than `NAMED_FACTORS` are arguments of the program; an empty
    level appends none.
    """
    name, equals, levels = text.partition("=")
    if not equals or not name.strip():
        raise Error(
            f"the factor '{text}' is not NAME=LEVEL,LEVEL, such as "
            "placement=launcher,auto"
        )
    words = [word.strip() for word in _COMMAS.split(levels)]
    if name in NAMED_FACTORS:
        return make_named_factor(name, words)
    return _check_factor(
        Factor(
            name,
            tuple(
                Level(word or "without", Settings(arguments=split_words(word, name)))
                for word in words
            ),
        )
    )


def make_named_factor(name: str, values: Sequence[str]) -> Factor:
    """Make one of the `NAMED_FACTORS` from the values of its levels."""
    return _check_factor(
        Factor(name, tuple(Level(value, _set(name, value)) for value in values))
    )


def make_factor(name: str, levels: Mapping[str, Any]) -> Factor:
    """Make a factor from a table of settings for each level."""
    made = []
    for level, settings in levels.items():
        where = f"the level '{level}' of the factor '{name}'"
        if not isinstance(settings, Mapping):
            raise Error(f"{where} is not a table of settings")
        made.append(Level(level, _read_settings(settings, where)))
    return _check_factor(Factor(name, tuple(made)))


def _set(name: str, value: str) -> Settings:
    if not value:
        raise Error(f"the factor '{name}' has an empty level")
    if name == "placement":
        return Settings(mapper=None if value == LAUNCHER else value)
    if name == "collectives":
        return Settings(collectives=_parse_collectives(value))
    if name == "machine":
        return Settings(machine=value)
    return Settings(allocation=value)


def _parse_collectives(value: str) -> Mapping[str, str] | None:
    if value == LIBRARY:
        return None
    return {} if value == REPLACED else parse_settings(value)


def _read_settings(table: Mapping[str, Any], where: str) -> Settings:
    known = (*_SETTINGS, "arguments", "environment")
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise Error(f"{where} has no '{key}'; settings are {', '.join(known)}")
        if key == "environment":
            found[key] = _read_environment(value, where)
        elif not isinstance(value, str):
            raise Error(f"{where}: {key} is not a string")
        elif key == "arguments":
            found[key] = split_words(value, where)
        elif key == "mapper":
            found[key] = None if value == LAUNCHER else value
        elif key == "collectives":
            found[key] = _parse_collectives(value)
        else:
            found[key] = value
    return Settings(**found)


def _read_environment(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise Error(f"{where}: environment is not a table of variables")
    for name, text in value.items():
        if not name or "=" in name or "\0" in name:
            raise Error(f"{where}: '{name}' is not the name of a variable")
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise Error(f"{where}: the variable {name} is not a string or a number")
        _check_text(str(text), where)
    return {name: str(text) for name, text in value.items()}


def _check_text(text: str, where: str) -> None:
    """Refuse null characters, which end arguments and variables."""
    if "\0" in text:
        raise Error(f"{where} contains a null character")


def split_words(text: str, where: str) -> tuple[str, ...]:
    """Split a text into words as a shell does."""
    _check_text(text, where)
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise Error(f"{where}: '{text}': {str(error).lower()}") from None


def _check_factor(factor: Factor) -> Factor:
    if len(factor.levels) < 2:
        raise Error(f"the factor '{factor.name}' has fewer than two levels")
    twice = find_repeated([level.name for level in factor.levels])
    if twice is not None:
        raise Error(f"the factor '{factor.name}' has the level '{twice}' twice")
    return factor


def find_repeated(names: Sequence[str]) -> str | None:
    """Return the first name that is repeated; None if all are different."""
    return next((name for name, count in Counter(names).items() if count > 1), None)
