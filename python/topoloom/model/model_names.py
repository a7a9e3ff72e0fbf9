# SPDX-License-Identifier: BSD-3-Clause
"""Loads network models by name or from files."""

from __future__ import annotations

from pathlib import Path

from topoloom._core import Error
from topoloom.model.model_toml import ModelFile, read_model_toml
from topoloom.support.files import exists
from topoloom.support.name_lookup import suggest
from topoloom.support.resources import find_shipped_folder


def load_model(text: str | Path) -> ModelFile:
    """Load a network model.

    Parameters
    ----------
    text
        A name from `model_names`, or the path of a TOML file.

    Raises
    ------
    topoloom.Error
        If the name is unknown, or the file is invalid.
    OSError
        If the file cannot be read.
    """
    path, name = Path(text), str(text)
    files = _list_model_files()
    if name in files:
        return read_model_toml(files[name])
    if path.suffix or path.name != name or exists(path):
        return read_model_toml(path)
    raise Error(
        f"no model '{name}'{suggest(name, files)}; there are: {', '.join(files)}; "
        "or name a file written by 'topoloom model fit'"
    )


def model_names() -> list[str]:
    """List the names of the network models that ship with Topoloom."""
    return list(_list_model_files())


def _list_model_files() -> dict[str, Path]:
    files = {path.stem: path for path in find_shipped_folder("models").glob("*.toml")}
    return dict(sorted(files.items()))
