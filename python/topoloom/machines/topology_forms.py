# SPDX-License-Identifier: BSD-3-Clause
"""The core's descriptions of topologies and their options in machine text."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from topoloom._core import topologies


class OptionForm(NamedTuple):
    """An option of a section of machine text."""

    name: str
    #: type of the option's value: ``count``, ``word``, ``axis_quantities``, ...
    form: str
    #: allowed values, or classes of links
    words: list[str]
    help: str


class SectionForm(NamedTuple):
    """A section of machine text: ``name:body,option=value,...``."""

    name: str
    summary: str
    example: str
    #: key of the body in TOML; "" if the body has several keys
    body: str
    #: separator of the body's numbers; "" if the body is not a list
    separator: str
    options: tuple[OptionForm, ...]
    #: arrangement of vertices in pictures: ``grid``, ``groups``, ``links``, ...
    drawing: str


@cache
def section_forms() -> dict[str, SectionForm]:
    """Return the syntax of all topologies, and of ``+down`` and ``+node``, by name."""
    return {form.name: form for form in map(_make_section_form, topologies())}


def topology_forms() -> list[SectionForm]:
    """Return the syntax of all topologies."""
    return [form for name, form in section_forms().items() if name[0] != "+"]


def get_drawing(topology: dict[str, Any]) -> str:
    """Return the arrangement of vertices in pictures of a ``[topology]`` table."""
    drawing: str = topology.get("drawing") or section_forms()[topology["kind"]].drawing
    return drawing


def _make_section_form(entry: dict[str, Any]) -> SectionForm:
    options = tuple(OptionForm(**option) for option in entry["options"])
    return SectionForm(**{**entry, "options": options})
