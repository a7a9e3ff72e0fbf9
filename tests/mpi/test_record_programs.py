# SPDX-License-Identifier: BSD-3-Clause
"""Counts of real programs are exact; totals equal independent counts."""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from mpis import HALO3D, MPIS, OPEN_MPI_4, Mpi, build_program, need, pairs, record_run

from topoloom.graphs.phases import edge_rows, make_recorded_phases
from topoloom.graphs.profile import load_profile

MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 9 0 9 0 9
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
run 40
"""


def grid_neighbors(width: int, periodic: bool) -> set[tuple[int, int]]:
    """Return the pairs of ranks in a cube that differ by one in a single coordinate."""
    cells = list(itertools.product(range(width), repeat=3))
    found = set()
    for (a, here), (b, there) in itertools.product(enumerate(cells), repeat=2):
        steps = [abs(x - y) for x, y in zip(here, there, strict=True)]
        if periodic:
            steps = [min(step, width - step) for step in steps]
        if sum(steps) == 1:
            found.add((a, b))
    return found


@pytest.mark.parametrize(
    ("mpi", "periodic"),
    [*((mpi, True) for mpi in MPIS), (OPEN_MPI_4, False)],
    ids=lambda value: getattr(value, "name", value),
)
def test_halo3d_sends_to_the_neighbors_in_the_grid(
    mpi: Mpi, periodic: bool, tmp_path: Path
) -> None:
    program = build_program(mpi, HALO3D)
    words = ["--grid", "3x3x3", "--cells", 6, "--steps", 7]
    words += ["--periodic"] if periodic else []
    profile = record_run(mpi, 27, program, *words, folder=tmp_path)
    expected = {pair: (7 * 6 * 6 * 8, 7) for pair in grid_neighbors(3, periodic)}
    assert pairs(profile.point_to_point()) == expected


def test_halo3d_reports_the_bytes_it_sends(tmp_path: Path) -> None:
    program = build_program(OPEN_MPI_4, HALO3D)
    words = ["--grid", "1x2x3", "--cells", 5, "--steps", 4, "--periodic", "--bytes"]
    command = OPEN_MPI_4.command(6, program, *words)
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "halo3d: verified" in printed
    match = re.search(r"sends (\d+) bytes in (\d+) messages", printed)
    assert match is not None
    sent = record_run(OPEN_MPI_4, 6, program, *words, folder=tmp_path).point_to_point()
    assert (sent.bytes.sum(), sent.messages.sum()) == (int(match[1]), int(match[2]))


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_transpositions_in_rows_and_columns_are_phases(
    mpi: Mpi, tmp_path: Path
) -> None:
    source = Path(__file__).parent / "programs" / "collectives" / "transposed_grid.c"
    profile = record_run(mpi, 12, build_program(mpi, source), folder=tmp_path)
    phases = make_recorded_phases(profile, "expand")
    ranks = range(12)
    expected = {
        "messages": {(a, (a + 1) % 12): 500 for a in ranks},
        "collectives in 4 groups, such as 0,4,8": {
            (a, b): 2 * (100 + 10 * a + b)
            for a, b in itertools.permutations(ranks, 2)
            if a % 4 == b % 4
        },
        "collectives in 3 groups, such as 3,2,1,0": {
            (a, b): 2 * (100 + 10 * a + b)
            for a, b in itertools.permutations(ranks, 2)
            if a // 4 == b // 4
        },
    }
    found = {
        name: {(a, b): size for a, b, size, _ in edge_rows(phase).tolist()}
        for name, phase in phases.items()
    }
    assert found == expected


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--grid", "2x2"], "expected three numbers"),
        (["--grid", "2x2x2"], "needs 8 ranks, but there are 1"),
        (["--cells", "many"], "expected a whole number"),
        (["--cells"], "needs a value"),
        (["--stpes", "3"], "unknown option"),
    ],
)
def test_halo3d_refuses_bad_options_in_one_line(words: list[str], problem: str) -> None:
    program = build_program(OPEN_MPI_4, HALO3D)
    command = OPEN_MPI_4.command(1, program, *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line.startswith("halo3d: ")]
    assert len(lines) == 1
    assert problem in lines[0]


def run_monitored(
    command: list[str], folder: Path
) -> dict[tuple[int, int], tuple[int, int]]:
    """Run under Open MPI's monitoring; return the bytes of user messages by pair."""
    folder.mkdir()
    options = {
        "pml_monitoring_enable": "2",
        "pml_monitoring_enable_output": "3",
        "pml_monitoring_filename": str(folder / "job"),
    }
    words = [word for name, value in options.items() for word in ("--mca", name, value)]
    subprocess.run([command[0], *words, *command[1:]], check=True, timeout=600)
    found = {}
    line = re.compile(r"^E\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs", re.MULTILINE)
    for file in folder.glob("job.*.prof"):
        for source, target, size, count in line.findall(file.read_text()):
            found[int(source), int(target)] = (int(size), int(count))
    return found


def test_counts_of_a_lammps_melt_on_27_ranks_equal_those_of_open_mpi(
    tmp_path: Path,
) -> None:
    lammps = need("lmp", "apt-get install lammps")
    script = tmp_path / "melt.in"
    script.write_text(MELT)
    words = [lammps, "-in", script, "-log", "none", "-screen", "none"]
    profile = record_run(OPEN_MPI_4, 27, *words, folder=tmp_path)
    sent = profile.point_to_point()
    counted = run_monitored(OPEN_MPI_4.command(27, *words), tmp_path / "prof")
    assert pairs(sent) == counted
    # LAMMPS divides the periodic box into 3x3x3 and exchanges ghosts along the axes.
    assert set(pairs(sent)) == grid_neighbors(3, periodic=True)
    # In a melt, almost as much is sent in the reverse direction.
    sizes = np.zeros((27, 27))
    sizes[sent.source, sent.target] = sent.bytes
    assert np.all(np.abs(sizes - sizes.T) <= 0.2 * sizes)
    assert len(profile.records) > 0
    assert [len(members) for members in profile.communicators] == [27]


def test_counts_of_netpipe_equal_those_of_open_mpi(tmp_path: Path) -> None:
    netpipe = need("NPopenmpi", "apt-get install netpipe-openmpi")
    # Without -n, NetPIPE first measures how many repetitions it needs.
    words = [netpipe, "-n", 3, "-u", 4096, "-o", tmp_path / "np.out"]
    sent = record_run(OPEN_MPI_4, 2, *words, folder=tmp_path).point_to_point()
    assert pairs(sent) == run_monitored(
        OPEN_MPI_4.command(2, *words), tmp_path / "prof"
    )
    assert sent.bytes.min() > 4096


def test_a_profile_is_saved_whole_and_scipy_reads_its_graph(tmp_path: Path) -> None:
    program = build_program(OPEN_MPI_4, HALO3D)
    profile = record_run(OPEN_MPI_4, 8, program, "--steps", 3, folder=tmp_path)
    profile.save(tmp_path / "halo.npz", "keep")
    matrix = scipy.sparse.load_npz(tmp_path / "halo.npz")
    assert matrix.shape == (8, 8)
    assert matrix.sum() == profile.point_to_point().bytes.sum()
    again = load_profile(tmp_path / "halo.npz")
    assert pairs(again.edges("expand")) == pairs(profile.edges("expand"))
    assert again.edges("expand").messages.sum() > again.edges("keep").messages.sum()
    profile.save(tmp_path / "bare.npz", "drop")
    assert not len(load_profile(tmp_path / "bare.npz").records)
