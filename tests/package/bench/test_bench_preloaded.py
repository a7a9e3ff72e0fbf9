# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of unmodified programs parses their output and writes tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from preloaded import stencil
from preloaded.__main__ import row
from preloaded.programs import Program, Run, read_nas

IS = """
 IS Benchmark Completed
 Time in seconds =                     0.00
 Mop/s total     =                   500.00
 Verification    =               {}
"""
FT = """
 T =    1     Checksum =    5.546087004964D+02    4.845363331978D+02
 Result verification successful
 Mop/s total     =                  2000.00
 Verification    =               SUCCESSFUL
"""


def test_times_and_verification_are_parsed_from_nas_output() -> None:
    assert read_nas(IS.format("SUCCESSFUL")).time == pytest.approx(2)
    found = read_nas(FT)
    assert found.time == pytest.approx(0.5)
    assert "5.546087004964D+02" in found.answers
    with pytest.raises(ValueError, match="NAS failed"):
        read_nas(IS.format("UNSUCCESSFUL"))


@pytest.mark.parametrize(
    ("ours", "every", "words"),
    [("a", "a", ("equal", "equal")), ("a", "b", ("equal", "verified")),
     ("b", "b", ("differ", "verified"))],
)  # fmt: skip
def test_a_table_row_has_the_fastest_runs_and_the_paired_gain(
    ours: str, every: str, words: tuple[str, str]
) -> None:
    program = Program("Any", (), "s", read_nas, Path())
    rounds = [
        (Run(2.0, "a"), Run(1.0, ours), Run(1.5, "a")),
        (Run(1.0, "a"), Run(3.0, ours), Run(2.5, "a")),
    ]
    cells = [cell.strip() for cell in row(program, 4, rounds, Run(9, every)).split("|")]
    assert cells[1:5] == ["Any", "4", "1 s", "1 s"]
    assert cells[5:8] == ["1.00", "1.50", "1.75 (0.50-3.00)"]
    assert tuple(cells[8:10]) == words


def test_stencils_are_listed_in_order_with_their_gains() -> None:
    later = stencil.Exchange(64, 26, 1024, 52e-6, 40e-6)
    first = stencil.Exchange(64, 6, 8, 12e-6, 24e-6)
    assert stencil.table([later, first]).splitlines()[2:] == [
        "| 64 | 6 | 8 | 12.0 | 24.0 | 0.50 |",
        "| 64 | 26 | 1,024 | 52.0 | 40.0 | 1.30 |",
    ]
