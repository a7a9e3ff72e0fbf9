# SPDX-License-Identifier: BSD-3-Clause
"""The page of a machine that was measured, in a single HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topoloom.report.pack import Pack
from topoloom.report.page import render_page
from topoloom.report.probed.costs import add_costs, cost_matrix
from topoloom.report.probed.probed_file import Probed
from topoloom.report.probed.text import facts
from topoloom.support.files import write_text

#: Modules of the page, each after those that it imports from.
SCRIPTS = (
    "format.js",
    "pack.js",
    "canvas.js",
    "paper.js",
    "matrix.js",
    "costs.js",
    "probed.js",
)


def save_probed_page(path: str | Path, probed: Probed, command: Sequence[str]) -> None:
    """Write the page, wholly or not at all.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    write_text(path, render_probed(probed, command))


def render_probed(probed: Probed, command: Sequence[str] = ()) -> str:
    """Build the page; the same files give the same text.

    Parameters
    ----------
    command
        The words that made the page.
    """
    pack = Pack()
    data = add_costs(pack, probed, cost_matrix(probed))
    data["arrays"] = pack.index
    texts = facts(probed, command)
    return render_page("probed.html.j2", SCRIPTS, texts, data, pack)
