# SPDX-License-Identifier: BSD-3-Clause
"""The click context of all commands: help for narrow terminals and any encoding."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

import click

from topoloom.cli.streams import NARROW, to_encodable
from topoloom.cli.tables import wrap_words

#: What no line break may split: names with hyphens, short defaults, and commands.
_UNBROKEN = re.compile(r"\w+(?:-\w+)+|\[default: [^]]{1,20}\]|'topoloom [a-z -]{1,25}'")
#: Stand-ins for blank and hyphen, between which lines are not broken.
_JOIN = str.maketrans(" -", "\N{NO-BREAK SPACE}\N{NON-BREAKING HYPHEN}")
_SEPARATE = {joiner: sign for sign, joiner in _JOIN.items()}


def _join(text: str) -> str:
    return _UNBROKEN.sub(lambda it: it[0].translate(_JOIN), text)


class _HelpFormatter(click.HelpFormatter):
    """A formatter that does not break names.

    On narrow terminals, it writes descriptions below names.
    """

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        super().write_text(_join(text))

    def getvalue(self) -> str:
        """Return the text."""
        return super().getvalue().translate(_SEPARATE)

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names and their descriptions."""
        rows = [(name, _join(text)) for name, text in rows]
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
