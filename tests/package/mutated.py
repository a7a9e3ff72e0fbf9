# SPDX-License-Identifier: BSD-3-Clause
"""Texts with something broken in them, for readers that must name it or read on."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from topoloom import Error

_PIECE = st.text(string.printable, max_size=4)


@st.composite
def mutated(draw: st.DrawFn, texts: list[str]) -> str:
    """Cut, double or overwrite pieces of one of the texts."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        middle = draw(_PIECE | st.just(text[start:end] * 2))
        text = text[:start] + middle + text[end:]
    return text


def read_or_refuse(read: Callable[[str], Any], text: str) -> None:
    """Read a text that may be broken: the reader names the line, or takes it."""
    try:
        read(text)
    except Error as error:
        message = str(error)
    else:
        return
    assert message.startswith("line "), message
