# SPDX-License-Identifier: BSD-3-Clause
"""The click context of all commands: help for narrow terminals and any encoding."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from topoloom.cli.streams import NARROW, to_encodable
from topoloom.cli.tables import wrap_words


class _HelpFormatter(click.HelpFormatter):
    """A formatter that writes descriptions below names on narrow terminals."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names and their descriptions."""
        if self.width >= NARROW:
            super().write_dl(rows, col_max, col_spacing)
            return
        indent = " " * self.current_indent
        for name, text in rows:
            lines = wrap_words(name, self.width - len(indent))
            lines += [f"  {each}" for each in wrap_words(text, self.width - 4)]
            for line in lines:
                self.write(f"{indent}{line}".rstrip() + "\n")


class HelpContext(click.Context):
    """A context whose help has no character that stdout cannot encode."""

    formatter_class = _HelpFormatter

    def get_help(self) -> str:
        """Return the help; click prints UTF-8 even if the locale is ASCII."""
        return to_encodable(super().get_help(), sys.stdout)
