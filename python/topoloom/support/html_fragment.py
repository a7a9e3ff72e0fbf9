# SPDX-License-Identifier: BSD-3-Clause
"""HTML fragments for notebooks: titles, tables and pictures."""

from __future__ import annotations

import html
from collections.abc import Mapping


def html_fragment(title: str, *parts: str) -> str:
    """Combine HTML parts side by side under a title; skip empty parts."""
    inside = "".join(f"<div>{part}</div>" for part in parts if part)
    style = "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"
    return (
        f"<div><strong>{html.escape(title)}</strong>"
        f'<div style="{style}">{inside}</div></div>'
    )


def make_html_table(rows: Mapping[str, str]) -> str:
    """Write a two-column table of names and values; HTML is escaped."""
    lines = (
        f'<tr><th scope="row" style="text-align:left">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{''.join(lines)}</table>"
