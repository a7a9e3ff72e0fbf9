# SPDX-License-Identifier: BSD-3-Clause
"""A hook of MkDocs: the copy button of a console block copies only the commands.

Console blocks show prompts and output. The theme copies the attribute ``data-copy``
of an element around the button, if there is one, instead of the displayed text.
"""

from __future__ import annotations

import html
import re
from typing import Any

BLOCK = re.compile(
    r'<div class="language-console highlight">(?=<pre>.*?<code>(.*?)</code></pre>)',
    re.DOTALL,
)
TAG = re.compile(r"<[^>]+>")
PROMPT = "$ "


def on_page_content(content: str, **_: Any) -> str:
    """Add the commands of each console block as an attribute."""
    return BLOCK.sub(add_commands, content)


def add_commands(block: re.Match[str]) -> str:
    """Return the opening tag of a console block with its commands."""
    commands = extract_commands(html.unescape(TAG.sub("", block[1])))
    # Attributes keep line breaks only as references.
    value = html.escape(commands).replace("\n", "&#10;")
    return f'<div class="language-console highlight" data-copy="{value}">'


def extract_commands(text: str) -> str:
    """Return the commands of a console block, one per line, without prompts.

    A command continues on the next line if it ends with a backslash.
    """
    commands: list[str] = []
    continues = False
    for line in text.splitlines():
        if line.startswith(PROMPT) or continues:
            commands.append(line.removeprefix(PROMPT))
            continues = line.endswith("\\")
    return "\n".join(commands)
