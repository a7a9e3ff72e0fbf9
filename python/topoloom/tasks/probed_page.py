# SPDX-License-Identifier: BSD-3-Clause
"""Writes the HTML page of a measured machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoloom._core import Error

if TYPE_CHECKING:
    from topoloom.documents.placements import PageDocument


class WrittenPage(NamedTuple):
    """The path and the headline of a written page."""

    path: Path
    headline: str

    @property
    def size(self) -> int:
        """The size of the page in bytes."""
        return self.path.stat().st_size

    def document(self) -> PageDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "output": str(self.path),
            "bytes": self.size,
            "headline": self.headline,
        }


def write_probed_page(
    machine: Path, output: Path, command: tuple[str, ...] = ()
) -> WrittenPage:
    """Write the HTML page of a machine that ``topoloom machine probe`` measured.

    Parameters
    ----------
    machine
        The machine file of the probe; the samples file that it names is also read.
    output
        Path of the page.
    command
        The command line, which the page shows.

    Raises
    ------
    topoloom.Error
        If the machine was not measured, or its samples are missing, or jinja2 is not
        installed.
    OSError
        If a file cannot be read or written.
    """
    from topoloom.report.probed.page import save_probed_page
    from topoloom.report.probed.probed_file import read_probed
    from topoloom.report.probed.text import write_probed_headline

    probed = read_probed(machine)
    inputs = (machine, probed.samples_path)
    if output.exists() and any(output.samefile(path) for path in inputs):
        raise Error(f"{output} is an input of the page; name another output file")
    save_probed_page(output, probed, command)
    return WrittenPage(output, write_probed_headline(probed))
