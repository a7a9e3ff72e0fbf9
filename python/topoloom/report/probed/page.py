# SPDX-License-Identifier: BSD-3-Clause
"""Renders the page of a measured machine as a single HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topoloom.report.packed_arrays import PackedArrays
from topoloom.report.page import render_page
from topoloom.report.probed.costs import make_level_matrix, pack_costs
from topoloom.report.probed.probed_file import ProbedMachine
from topoloom.report.probed.text import collect_page_texts
from topoloom.support.files import check_page_name, write_text

#: JavaScript modules of the page, in dependency order.
SCRIPTS = (
    "format.js",
    "pack.js",
    "canvas.js",
    "paper.js",
    "matrix.js",
    "costs.js",
    "probed.js",
)


def save_probed_page(
    path: str | Path, probed: ProbedMachine, command: Sequence[str]
) -> None:
    """Write the page of a measured machine atomically.

    Raises `topoloom.Error` if the name does not end with .html, and `OSError` if the
    file cannot be written.
    """
    check_page_name(path)
    write_text(path, render_probed(probed, command))


def render_probed(probed: ProbedMachine, command: Sequence[str] = ()) -> str:
    """Render the page of a measured machine; equal files produce equal text.

    `command` is the command line, which the page shows.
    """
    pack = PackedArrays()
    data = pack_costs(pack, probed, make_level_matrix(probed))
    data["arrays"] = pack.index
    texts = collect_page_texts(probed, command)
    return render_page("probed.html.j2", SCRIPTS, texts, data, pack)
