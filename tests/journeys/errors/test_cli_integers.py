# SPDX-License-Identifier: BSD-3-Clause
"""Integers on the command line are limited to those of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topoloom.cli.app import command_names, find_command
from topoloom.cli.values import Integer

if TYPE_CHECKING:
    from tests.conftest import Command

#: Options of the core's 64-bit integers.
WIDE = {"--seed", "--work"}


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("map p.npz -m torus:4x4 --threads", "--threads"),
        ("machine sweep torus:2x2 --loads 0.1 --packet", "--packet"),
        ("collective rank bcast -n 4 --root", "--root"),
        ("collective grid torus:4x4 --grid 4x4 --channels", "--channels"),
        ("pattern generate triangular --rows", "--rows"),
        ("model predict hdr --sizes 8 --processes-per-node", "--processes-per-node"),
        ("allocate -m torus:4x4 -N", "-N"),
    ],
)
def test_large_integers_are_refused(topoloom: Command, words: str, option: str) -> None:
    refused = topoloom(*words.split(), 2**31)
    assert refused.status == 2
    assert refused.err == f"topoloom: {option} must be below 2^31, not 2147483648\n"


@pytest.mark.parametrize("name", command_names())
def test_seeds_and_work_are_wide(name: str) -> None:
    for option in find_command(name).params:
        if isinstance(option.type, Integer):
            assert option.type.bits == (64 if option.opts[0] in WIDE else 32)
