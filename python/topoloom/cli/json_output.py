# SPDX-License-Identifier: BSD-3-Clause
"""Formats JSON documents; each begins with the name of its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Versions of documents other than 1, by command. Raise a version when a key is removed
#: or renamed, or the type or the meaning of its value changes.
VERSIONS: dict[str, int] = {}


def format_json(document: Mapping[str, Any], *, pretty: bool = True) -> str:
    """Format the document of the current command; long documents on one line."""
    import json

    named = {"schema": name_schema(_find_command()), **document}
    text = json.dumps(named, allow_nan=False)
    if pretty and len(text) < 4000:
        text = json.dumps(named, indent=2)
    return text


def name_schema(command: str) -> str:
    """Return the name and version of a command's schema: ``topoloom/ai-axes/1``."""
    return f"topoloom/{command.replace(' ', '-')}/{VERSIONS.get(command, 1)}"


def _find_command() -> str:
    """Return the full name of the current command, such as 'machine show'."""
    import click

    context = click.get_current_context()
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, str(context.info_name))
        context = context.parent
    return " ".join(names)
