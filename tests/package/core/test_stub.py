# SPDX-License-Identifier: BSD-3-Clause
"""The committed stub matches the compiled module."""

from __future__ import annotations

import importlib
from pathlib import Path

from nanobind.stubgen import StubGen

import topoloom


def test_the_stub_matches_the_module() -> None:
    generator = StubGen(importlib.import_module("topoloom._core"), quiet=True)
    generator.put(importlib.import_module("topoloom._core"))
    committed = Path(topoloom.__file__).parent / "_core.pyi"
    assert generator.get() == committed.read_text(), "bindings changed: run `make stub`"
