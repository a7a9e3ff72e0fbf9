# SPDX-License-Identifier: BSD-3-Clause
"""Builds the applications for SimGrid, runs a study of each, and prints a table."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers.tables import write_between_marks
from smpi import CORE, MPI, find, run
from topoloom.support.units import format_seconds

STUDIES = Path(__file__).parent
APPS = MPI.parent / "apps"
MARKS = "<!-- bench-applications: begin -->", "<!-- bench-applications: end -->"
#: Columns with main effects. A level named "streams" has a column of its own.
COLUMNS = ("placement", "collectives", "algorithm", "overlap", "streams", "balance")
HEAD = (
    f"| application | baseline | speed-up | {' | '.join(COLUMNS)} | best |\n"
    f"| --- | ---: | ---: |{' --- |' * len(COLUMNS)} --- |\n"
)
LIBRARIES = ("mpi", "collective", "objects", "stream")
#: Other libraries of an application.
PACKAGES = {
    "fft3d": ["-lfftw3"],
    "lanczos": ["-lopenblas"],
    "matrix_multiply": ["-lopenblas"],
}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("applications", description=__doc__)
    parser.add_argument("--only", default="", help="only applications with this prefix")
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the table to this folder"
    )
    args = parser.parse_args(argv)
    text = HEAD
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        _build_libraries(folder)
        for study in sorted(STUDIES.glob(f"{args.only}*.toml")):
            _build(study.stem, folder)
            line = _format_row(study.stem, _run_study(study, folder))
            print(line, end="", file=sys.stderr, flush=True)
            text += line
    print(text)
    if args.docs:
        page = args.docs / "how-to" / "research" / "applications.md"
        write_between_marks(page, text, *MARKS)


def _build_libraries(folder: Path) -> None:
    compiler = find("smpicc", "libsimgrid-dev")
    options = [
        f"-DMPI_C_COMPILER={compiler}",
        f"-DMPI_CXX_COMPILER={compiler.replace('smpicc', 'smpicxx')}",
        f"-DTOPOLOOM_LIBRARY={CORE}",
        f"-DTOPOLOOM_INCLUDE_DIR={MPI.parent / 'core' / 'topoloom' / 'capi'}",
    ]
    run("cmake", "-S", MPI, "-B", folder / "mpi", *options)
    targets = [f"topoloom-{name}" for name in LIBRARIES]
    run("cmake", "--build", folder / "mpi", "--target", *targets)


def _build(name: str, folder: Path) -> None:
    """Compile an application; libraries that it does not need are not linked."""
    [source] = [*(APPS / name).glob(f"{name}.c*")]
    words = ["smpicc", "-std=gnu11"]
    if source.suffix == ".cpp":
        words = ["smpicxx", "-std=c++20"]
    built = folder / "mpi"
    libraries = [*built.rglob("libtopoloom-*.so")]
    headers = {f"-I{path.parent}" for path in MPI.rglob("topoloom_*.h*")}
    paths = {f"-Wl,-rpath,{path.parent}" for path in (*libraries, CORE)}
    run(
        *words,
        *("-O2", "-w", *sorted(headers), source, "-o", folder / name),
        *("-Wl,--as-needed", *libraries, *PACKAGES.get(name, []), *sorted(paths)),
    )


def _run_study(study: Path, folder: Path) -> Any:
    words = ["topoloom", "study", study, "--json", "--store", folder / "store"]
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def _format_row(name: str, study: Any) -> str:
    """Format the effect of each level, and the fastest cell."""
    changes = dict.fromkeys(COLUMNS, "")
    for effect in study["effects"]:
        [factor], [level] = effect["factors"], effect["levels"]
        column = next(
            (word for word in (level, factor) if word in COLUMNS), "algorithm"
        )
        change = round(effect["change_percent"])
        changes[column] = f"{change:+} %" if change else "0 %"
        if column not in {"placement", "collectives", "streams"}:
            changes[column] += f" {level}"
    cells = [cell for cell in study["cells"] if cell["median"] is not None]
    base = cells[0]["median"]
    best = min(cells, key=lambda cell: cell["median"])
    row = [name, format_seconds(base), f"{base / best['median']:.2f}"]
    row += [*changes.values(), ", ".join(best["levels"])]
    return f"| {' | '.join(row)} |\n"


if __name__ == "__main__":
    main()
