# SPDX-License-Identifier: BSD-3-Clause
"""HTML that notebooks show of an object: a title, tables, a still picture."""

from __future__ import annotations

import html
from collections.abc import Mapping


def html_fragment(title: str, *parts: str) -> str:
    """Put parts that are HTML side by side under a title; empty ones are left out."""
    inside = "".join(f"<div>{part}</div>" for part in parts if part)
    style = "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"
    return (
        f"<div><strong>{html.escape(title)}</strong>"
        f'<div style="{style}">{inside}</div></div>'
    )


def html_table(rows: Mapping[str, str]) -> str:
    """Write names and values, neither of which is HTML, in two columns."""
    lines = (
        f'<tr><th scope="row" style="text-align:left">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{''.join(lines)}</table>"
