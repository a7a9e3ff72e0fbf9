# SPDX-License-Identifier: BSD-3-Clause
"""Opens a figure, and writes it to a file at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from topoloom.figure.style import SETTINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")


@contextlib.contextmanager
def open_page(path: str | Path, inches: tuple[float, float]) -> Iterator[Figure]:
    """Open a figure, and write it at the end; equal figures result in equal files.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    inches
        Width and height in inches.

    Raises
    ------
    topoloom.Error
        If the suffix is not supported, or matplotlib is not installed.
    OSError
        If the file cannot be written.
    """
    from topoloom.support.files import open_atomically

    ending = check_figure_suffix(path)
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=inches, dpi=130)
        yield figure
        _round_layout(figure)
        with open_atomically(path) as stream:
            metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
            figure.savefig(
                stream, format=ending[1:], metadata=metadata.get(ending), facecolor="w"
            )


def check_figure_suffix(path: str | Path) -> str:
    """Return the suffix of an output file; raise an error if it cannot be written."""
    from topoloom._core import Error
    from topoloom.support.files import check_writable

    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise Error(f"{path}: figures are {', '.join(FORMATS)}; change the suffix")
    if find_spec("matplotlib") is None:
        raise Error(
            "figures need matplotlib; install it with: pip install 'topoloom[report]'"
        )
    check_writable(path)
    return ending


def _round_layout(figure: Figure) -> None:
    """Round the layout, because the last digits of the solver vary between runs."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        box = part.bbox_relative
        box.set_points(np.round(box.get_points(), 5))
    for axes in figure.axes:
        axes.set_position(np.round(axes.get_position(original=True).bounds, 5))
