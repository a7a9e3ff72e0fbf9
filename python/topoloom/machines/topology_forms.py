# SPDX-License-Identifier: BSD-3-Clause
"""What the core says of machine text: kinds of topologies and their options."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from topoloom._core import topologies


class OptionForm(NamedTuple):
    """An option of a section of machine text."""

    name: str
    #: how its value is written: ``count``, ``word``, ``axis_quantities``, ...
    form: str
    #: what it may be, or the classes of links that it may name
    words: list[str]
    help: str


class SectionForm(NamedTuple):
    """A section of machine text: ``name:body,option=value,...``."""

    name: str
    summary: str
    #: a machine
    example: str
    #: what the body says: its key in TOML, or empty if it takes several
    body: str
    #: between the body's numbers; empty if it is not a list of numbers
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
