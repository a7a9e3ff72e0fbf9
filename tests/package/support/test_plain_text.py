# SPDX-License-Identifier: BSD-3-Clause
"""All inputs reject non-ASCII digits; errors name the character."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from topoloom import Allocation, Error, Machine, load_allocation, load_machine
from topoloom.support.hostlist import expand_hostlist
from topoloom.support.plain_text import is_number
from topoloom.tasks import build_trees

MACHINE = Machine("torus:4x4")
ODD = {
    "\uff14": "(fullwidth digit four) at column {}; write '4'",
    "\u00b2": "(superscript two) at column {}; write '2'",
    "\u0664": "(arabic-indic digit four) at column {}; write '4'",
}
READERS: list[tuple[Callable[[str], Any], str]] = [
    (load_machine, "torus:{}x4"),
    (load_machine, "torus:4x4+node:{}"),
    (load_machine, "frontier+node:{}"),
    (expand_hostlist, "n[1-{}]"),
    (expand_hostlist, "a,n{}"),
    (lambda text: load_allocation(MACHINE, text), "0-{}"),
    (lambda text: load_allocation(MACHINE, text), "n[1-{}]"),
]


@pytest.mark.parametrize("letter", ODD)
@pytest.mark.parametrize(("read", "text"), READERS, ids=lambda one: str(one)[:20])
def test_non_ascii_digits_are_named(
    read: Callable[[str], Any], text: str, letter: str
) -> None:
    words = ODD[letter].partition(" at ")[0]
    with pytest.raises(Error) as error:
        read(text.format(letter))
    line = str(error.value)
    assert f"has '{letter}' {words} at column" in line
    assert line.endswith(ODD[letter].rpartition("; ")[2])
    assert "\n" not in line


@pytest.mark.parametrize("letter", ODD)
def test_non_ascii_digits_are_no_numbers(letter: str) -> None:
    assert not is_number(letter)
    assert not is_number("")
    assert is_number("042")
    with pytest.raises(Error):
        build_trees(Allocation.whole(MACHINE), letter)
