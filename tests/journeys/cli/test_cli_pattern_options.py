# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom pattern generate` accepts only options that change the pattern."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from topoloom import CommGraph
from topoloom.graphs.patterns import PATTERNS, Request, make_graph

if TYPE_CHECKING:
    from tests.conftest import Command

SIZES = {"grid": [4, 4], "ranks": 24, "rows": 7, "cells": [3, 3, 4]}
#: attribute of a pattern request -> its option, with a value other than the default
NON_DEFAULT_OPTIONS: dict[str, tuple[list[str], Any]] = {
    "bytes": (["--bytes", "5"], 5),
    "periodic": (["--open"], False),
    "root": (["--root", "3"], 3),
    "degree": (["--average-degree", "3"], 3.0),
    "order": (["--order", "dm"], "dm"),
    "threads": (["--threads-per-rank", "2"], 2),
    "groups": (["--groups", "row,gather"], ("row", "gather")),
    "seed": (["--seed", "7"], 7),
    "proxies": (["--no-proxies"], False),
    "gpus_per_node": (["--gpus-per-node", "4"], 4),
}


def get_size_attribute(name: str) -> dict[str, Any]:
    size = PATTERNS[name].size
    value: Any = SIZES[size]
    if name in ("stencil3d", "stencil27"):
        value = [4, 4, 3]
    return {size: value}


def format_size_arguments(name: str) -> list[str]:
    [(size, value)] = get_size_attribute(name).items()
    text = "x".join(map(str, value)) if isinstance(value, list) else str(value)
    return [name, f"--{size}", text]


def list_edges(graph: CommGraph) -> list[list[int]]:
    arrays = (graph.first, graph.peer, graph.bytes, graph.proxied)
    return [list(map(int, a)) for a in arrays]


@pytest.mark.parametrize("name", PATTERNS)
def test_every_option_of_a_pattern_changes_it(name: str) -> None:
    request = Request(**{"ranks": 0, "bytes": 1024, **get_size_attribute(name)})
    plain = list_edges(make_graph(name, request))
    for option, (_, value) in NON_DEFAULT_OPTIONS.items():
        other = list_edges(make_graph(name, replace(request, **{option: value})))
        assert (other != plain) == (option in PATTERNS[name].reads), option


@pytest.mark.parametrize("name", PATTERNS)
def test_options_without_effect_on_a_pattern_are_refused(
    topoloom: Command, name: str
) -> None:
    pattern = PATTERNS[name]
    assert topoloom("pattern", "generate", *format_size_arguments(name)).status == 0
    for option, (typed, _) in NON_DEFAULT_OPTIONS.items():
        outcome = topoloom("pattern", "generate", *format_size_arguments(name), *typed)
        if option in pattern.reads:
            assert outcome.status == 0, option
            continue
        assert (outcome.status, outcome.out) == (2, "")
        assert f"is not an option of {name}, which takes --" in outcome.err
        assert outcome.err.count("\n") == 1
        for read in pattern.reads:
            assert (
                NON_DEFAULT_OPTIONS[read][0][0].replace("--open", "/--open")
                in outcome.err
            )
    for size in set(SIZES) - {pattern.size}:
        outcome = topoloom(
            "pattern", "generate", *format_size_arguments(name), f"--{size}", "4"
        )
        assert f"--{size} is not an option of {name}" in outcome.err


def test_pattern_import_accepts_only_format_options(topoloom: Command) -> None:
    topoloom("pattern", "generate", "ring", "-n", 4, "-o", "p.npz")
    for typed in (["--seed", "3"], ["--ranks", "4"], ["--open"]):
        outcome = topoloom("pattern", "import", "p.npz", *typed)
        assert f"has no option '{typed[0]}'" in outcome.err
    assert topoloom("pattern", "import", "p.npz", "--format", "npz").status == 0
    outcome = topoloom("pattern", "generate", "ring", "-n", 4, "--format", "npz")
    assert "has no option '--format'" in outcome.err


def test_a_pattern_without_generate_is_refused_with_the_right_command(
    topoloom: Command,
) -> None:
    refused = topoloom("pattern", "stencil3d", "--grid", "8x8x8")
    assert (refused.status, refused.out) == (2, "")
    assert "(did you mean 'topoloom pattern generate stencil3d'?)" in refused.err
