# SPDX-License-Identifier: BSD-3-Clause
"""What the shell offers when Tab is pressed after an option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def machines(incomplete: str) -> list[str]:
    """Names of the zoo, detect, kinds of topologies, and files here that may be one."""
    from pathlib import Path

    from topoloom.machines.machine_file import DETECT, zoo_names
    from topoloom.machines.topology_forms import topology_forms

    ends = (".toml", ".graph", ".metis", ".tgt", ".xml", ".conf", ".yaml")
    files = [str(path) for path in Path().glob("*") if path.suffix in ends]
    kinds = [f"{form.name}:" for form in topology_forms()]
    return _starting(incomplete, [DETECT, *zoo_names(), *kinds, *files])


def mapper(incomplete: str) -> list[str]:
    """Names of mappers, also behind a comma or a plus."""
    from topoloom._core import mappers

    cut = max(incomplete.rfind(","), incomplete.rfind("+")) + 1
    names = [str(entry["name"]) for entry in mappers()]
    return _starting(incomplete, [incomplete[:cut] + name for name in names])


def patterns(incomplete: str) -> list[str]:
    """Names of patterns."""
    from topoloom.graphs.patterns import PATTERNS

    return _starting(incomplete, [*PATTERNS, "import"])


def simulators(incomplete: str) -> list[str]:
    """Names of simulators."""
    from topoloom.simulate import SIMULATORS

    return _starting(incomplete, SIMULATORS)


#: verb of `topoloom model` -> the options that it takes
MODEL_VERBS = {
    "list": (),
    "show": ("--figure",),
    "predict": ("--sizes", "--processes-per-node"),
    "fit": ("--output", "--round-trip", "--split", "--figure"),
    "channels": ("--sizes", "--round-trip"),
}


def model_words(incomplete: str) -> list[str]:
    """Complete verbs of `topoloom model`, network models, and files here."""
    from pathlib import Path

    from topoloom.model.named import model_names

    files = [str(path) for path in Path().glob("*") if path.suffix in (".toml", ".csv")]
    return _starting(incomplete, [*MODEL_VERBS, *model_names(), *files])


def exports(incomplete: str) -> list[str]:
    """Names of launcher formats."""
    from topoloom.launch.exports.registry import FORMATS

    return _starting(incomplete, [entry.NAME for entry in FORMATS])


def launchers(incomplete: str) -> list[str]:
    """Names of launchers, by what they do with an allocation."""
    from topoloom.allocations.launch_order import LAUNCHERS

    return _starting(incomplete, LAUNCHERS)


def kinds(incomplete: str) -> list[str]:
    """Kinds of things that `topoloom list` lists."""
    from topoloom.tasks.catalog import CATALOG

    return _starting(incomplete, CATALOG)


def _starting(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


def efforts(incomplete: str) -> list[str]:
    """Complete the efforts of the auto mapper."""
    from topoloom._core import mappers

    (auto,) = (mapper for mapper in mappers() if mapper["name"] == "auto")
    options: Any = auto["options"]
    (choices,) = (each["choices"] for each in options if each["name"] == "effort")
    return _starting(incomplete, choices)


def objectives(incomplete: str) -> list[str]:
    """Names of objectives."""
    from topoloom.tasks.objective import OBJECTIVES

    return _starting(incomplete, (*OBJECTIVES, "weighted("))


def axis_orders(incomplete: str) -> list[str]:
    """Complete the formats of `topoloom axes --to`."""
    from topoloom.tasks.axes import FORMATS

    return _starting(incomplete, FORMATS)


def meetings(incomplete: str) -> list[str]:
    """Complete where messages of `topoloom steps` meet."""
    from topoloom.tasks.steps import MEETINGS

    return _starting(incomplete, MEETINGS)


def operations(incomplete: str) -> list[str]:
    """Names of collectives."""
    from topoloom.schedules.choose import operations

    return _starting(incomplete, operations())


def schedules(incomplete: str) -> list[str]:
    """Names of schedules, also behind a plus."""
    from topoloom._core import schedules

    cut = incomplete.rfind("+") + 1
    names = [str(entry["name"]) for entry in schedules()]
    return _starting(incomplete, [incomplete[:cut] + name for name in names])


def models(incomplete: str) -> list[str]:
    """Names of network models that ship with Topoloom."""
    from topoloom.model.named import model_names

    return _starting(incomplete, model_names())
