# SPDX-License-Identifier: BSD-3-Clause
"""The click context of all commands: help for narrow terminals and any encoding."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from topoloom.cli.streams import to_encodable


class _HelpFormatter(click.HelpFormatter):
    """A formatter that leaves room for the descriptions on narrow terminals."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names and descriptions in two columns."""
        super().write_dl(rows, min(col_max, self.width // 3), col_spacing)


class HelpContext(click.Context):
    """A context whose help has no character that stdout cannot encode."""

    formatter_class = _HelpFormatter

    def get_help(self) -> str:
        """Return the help; click prints UTF-8 even if the locale is ASCII."""
        return to_encodable(super().get_help(), sys.stdout)
