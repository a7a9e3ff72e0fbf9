# SPDX-License-Identifier: BSD-3-Clause
"""A hook of MkDocs: typesets formulas as MathML while the site is built.

Pages write TeX between dollar signs, as GitHub reads it; browsers need no script.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL
)


def on_page_content(content: str, **_: Any) -> str:
    """Replace the TeX of a page by MathML."""
    return FORMULA.sub(typeset, content)


def typeset(found: re.Match[str]) -> str:
    """Typeset one formula, in a line of text or on lines of its own."""
    tag, bracket, tex = found.groups()
    display = "block" if bracket == "[" else "inline"
    math = convert(html.unescape(tex).strip(), display=display)
    # A long formula scrolls; the keyboard can do so only with the focus on it.
    focus = ' tabindex="0"' if display == "block" else ""
    return f'<{tag} class="formula"{focus}>{math}</{tag}>'
