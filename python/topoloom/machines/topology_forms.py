# SPDX-License-Identifier: BSD-3-Clause
"""The core's description of topologies and their options in machine text."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from topoloom._core import topologies


class OptionForm(NamedTuple):
    """An option of a section of machine text."""

    name: str
    #: type of the value: ``count``, ``word``, ``axis_quantities``, ...
    form: str
    #: allowed values, or classes of links
    words: list[str]
    help: str


class SectionForm(NamedTuple):
    """A section of machine text: ``name:body,option=value,...``."""

    name: str
    summary: str
    example: str
    #: key of the body in TOML; "" if it has several
    body: str
    #: between the numbers of the body; "" if it is no list
    separator: str
    options: tuple[OptionForm, ...]
    #: how pictures arrange the vertices: ``grid``, ``groups``, ``links``, ...
    drawing: str


@cache
def section_forms() -> dict[str, SectionForm]:
    """Describe the kinds of topologies, and ``+down`` and ``+node`` after them."""
    return {form.name: form for form in map(_form, topologies())}


def topology_forms() -> list[SectionForm]:
    """Describe the kinds of topologies."""
    return [form for name, form in section_forms().items() if name[0] != "+"]


def drawing_of(topology: dict[str, Any]) -> str:
    """Return how pictures arrange the vertices of a table ``[topology]``."""
    drawing: str = topology.get("drawing") or section_forms()[topology["kind"]].drawing
    return drawing


def _form(entry: dict[str, Any]) -> SectionForm:
    options = tuple(OptionForm(**option) for option in entry["options"])
    return SectionForm(**{**entry, "options": options})
