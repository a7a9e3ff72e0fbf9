# SPDX-License-Identifier: BSD-3-Clause
"""Sections of objects support multicasts and reductions while all objects move."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import MPICH, check_output, run_to_end
from object_programs import SOURCES, compile_with_objects

from topoloom.graphs.graph_file import load_graph


@pytest.fixture(scope="module")
def sections_program() -> Path:
    return compile_with_objects(MPICH, SOURCES / "sections.cpp")


@pytest.mark.parametrize("ranks", [1, 3, 5])
def test_sections_are_reduced_while_all_objects_move(
    sections_program: Path, tmp_path: Path, ranks: int
) -> None:
    file = tmp_path / "measured.npz"
    done = run_to_end(MPICH.command(ranks, sections_program, 50, file))
    assert check_output(done) == "sections are right\n"
    graph = load_graph(file)
    # Three hubs multicast to leaves; all leaves answer.
    assert graph.rank_count == 15
    assert graph.proxied.tolist() == [0, 1, 2]
    assert set(graph.messages.tolist()) == {50}
