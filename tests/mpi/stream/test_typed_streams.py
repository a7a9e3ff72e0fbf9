# SPDX-License-Identifier: BSD-3-Clause
"""The C++ interface: lambda handlers, their exceptions, pulling, errors, and apps."""

from __future__ import annotations

import pytest
from built_programs import ROOT
from mpis import MPICH, OPEN_MPI_4, Mpi, check_output, run_to_end
from streams import SOURCES, compile_with_streams


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_handlers_can_push_and_throw(mpi: Mpi) -> None:
    program = compile_with_streams(mpi, SOURCES / "typed.cpp")
    # UCX warns on standard output of messages that are never received.
    done = run_to_end(mpi.command(3, program), UCX_LOG_LEVEL="error")
    assert check_output(done) == "typed streams are right\n"


@pytest.mark.parametrize("name", ["histogram", "index_gather"])
def test_apps_find_their_tables_correct(name: str) -> None:
    source = ROOT / "apps" / name / f"{name}.cpp"
    program = compile_with_streams(MPICH, source)
    assert check_output(run_to_end(MPICH.command(3, program, 20000, 50))).startswith(
        "right: "
    )


def test_components_found_without_rounds_equal_those_of_a_serial_run() -> None:
    source = ROOT / "apps" / "components" / "components.cpp"
    program = compile_with_streams(MPICH, source)
    for words in ((3000, 4000), (500, 400, 2)):
        done = run_to_end(MPICH.command(4, program, *words))
        assert check_output(done).startswith("right: ")
