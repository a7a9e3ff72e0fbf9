# SPDX-License-Identifier: BSD-3-Clause
"""Streams over virtual meshes: routes that end, and items that come once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from recorded import MPICH, SIMGRID, run_to_end
from simulated_hosts import hosts_options
from streams import SOURCES, STREAM, said, with_streams

CASES = SOURCES / "mesh_cases.c"


def test_every_route_ends_and_meets_no_hole(tmp_path: Path) -> None:
    program = tmp_path / "laws"
    words = ["gcc", "-std=c11", "-O2", f"-I{STREAM}", SOURCES / "mesh_laws.c"]
    subprocess.run([*words, "-o", program], check=True)
    done = subprocess.run([program, "60"], capture_output=True, text=True, check=False)
    assert said(done) == "every route ends\n"


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_few_buckets_lead_to_all_simulated_ranks(
    dimensions: int, tmp_path: Path
) -> None:
    program = with_streams(SIMGRID, CASES, tmp_path)
    settings = {
        "smpi/simulate-computation": "no",
        "smpi/test": "1e-6",
        "smpi/iprobe": "1e-6",
    }
    options = hosts_options(tmp_path, 17, settings)
    command = SIMGRID.command(17, *options, program, dimensions, dimensions)
    assert said(run_to_end(command)) == "2 to 17 ranks: every item came once\n"


@pytest.mark.parametrize("dimensions", [2, 3])
def test_few_buckets_lead_to_all_real_ranks(dimensions: int, tmp_path: Path) -> None:
    program = with_streams(MPICH, CASES, tmp_path)
    command = MPICH.command(4, program, dimensions, dimensions)
    assert said(run_to_end(command)) == "2 to 4 ranks: every item came once\n"
