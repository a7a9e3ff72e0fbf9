# SPDX-License-Identifier: BSD-3-Clause
"""The libraries for MPI programs, built by CMake for an MPI, as a user would."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from recorded import Mpi, need

from topoloom import _core

ROOT = Path(__file__).parents[2]
#: Where they have been installed, by MPI and C compiler options.
_prefixes: dict[tuple[str, str], Path] = {}
#: Where single ones have been built, by MPI and library.
_built: dict[tuple[str, str], Path] = {}


def run(words: Sequence[object], **variables: str) -> str:
    """Run what must succeed, and give what it prints."""
    done = subprocess.run(
        list(map(str, words)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def build(source: Path, folder: Path, mpi: Mpi, target: str, *options: object) -> None:
    """Configure with an MPI's compilers, and build a target."""
    languages = {"C": ".c", "CXX": ".cpp", "Fortran": ".f90"}
    compilers = [
        f"-DMPI_{language}_COMPILER={need(mpi.compilers[suffix], mpi.install)}"
        for language, suffix in languages.items()
        if suffix in mpi.compilers
    ]
    if languages["Fortran"] not in mpi.compilers:
        compilers.append("-DCMAKE_Fortran_COMPILER=OFF")  # of another MPI, if any
    run(["cmake", "-S", source, "-B", folder, *compilers, *options])
    run(["cmake", "--build", folder, "--target", target, "--parallel", "2"])


def cmake(source: Path, folder: Path, mpi: Mpi, *options: object) -> None:
    """Configure and build with an MPI's compilers."""
    build(source, folder, mpi, "all", *options)


def with_collectives(
    mpi: Mpi, source: Path, folder: Path, *options: object, everywhere: str = ""
) -> Path:
    """Compile a C program with libtopoloom-collective, as pkg-config says.

    Options that are to hold everywhere are also those of the library.
    """
    prefix, program = installed(mpi, folder, everywhere), folder / source.stem
    options += tuple(everywhere.split())
    words = ["pkg-config", "--cflags", "--libs", "topoloom-collective"]
    flags = run(words, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    compiler = need(mpi.compilers[".c"], mpi.install)
    run([compiler, "-O1", "-w", *flags, *options, source, "-o", program, *flags])
    return program


def with_reordering(mpi: Mpi, source: Path, folder: Path) -> Path:
    """Compile a C program with libtopoloom-mpi where that was built."""
    program = folder / source.stem
    build(ROOT / "mpi", folder, mpi, "topoloom-mpi", *_options())
    linked = [folder / "libtopoloom-mpi.so", f"-Wl,-rpath,{folder}"]
    compiler = need(mpi.compilers[".c"], mpi.install)
    headers = f"-I{ROOT / 'mpi/reorder'}"
    run([compiler, "-O1", "-w", headers, source, "-o", program, *linked])
    return program


def with_library(
    mpi: Mpi, name: str, source: Path, folder: Path, *options: object
) -> Path:
    """Compile a program with one library, such as ``stream``, in its build folder.

    It is built once, below the folder that is the first to be asked for.
    """
    if (mpi.name, name) not in _built:
        made = folder / f"lib{name}"
        fortran = "-DCMAKE_Fortran_COMPILER=OFF"
        build(ROOT / "mpi", made, mpi, f"topoloom-{name}", *_options(), fortran)
        _built[mpi.name, name] = made / name
    library, program = _built[mpi.name, name], folder / source.stem
    linked = [library / f"libtopoloom-{name}.so"]
    linked += [f"-Wl,-rpath,{at}" for at in (library, core_library().parent)]
    compiler = need(mpi.compilers[source.suffix], mpi.install)
    standard = "-std=c++20" if source.suffix == ".cpp" else "-std=gnu11"
    words = [standard, "-O1", "-w", f"-I{ROOT / 'mpi' / name}", *options]
    run([compiler, *words, source, "-o", program, *linked])
    return program


def installed(mpi: Mpi, folder: Path, c_options: str = "") -> Path:
    """Install the libraries for an MPI, with the libtopoloom of this Python.

    They are built once, below the folder that is the first to be asked for.
    """
    key = mpi.name, c_options
    if key not in _prefixes:
        _prefixes[key] = _install(mpi, folder, c_options)
    return _prefixes[key]


def _install(mpi: Mpi, folder: Path, c_options: str) -> Path:
    prefix = folder / "prefix"
    options = [f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DCMAKE_C_FLAGS={c_options}"]
    options += _options()
    cmake(ROOT / "mpi", folder / "library", mpi, *options)
    run(["cmake", "--install", folder / "library"])
    return prefix


def core_library() -> Path:
    """Return the libtopoloom of this Python."""
    return Path(str(_core.__file__)).with_name("libtopoloom.so")


def _options() -> list[str]:
    return [
        f"-DTOPOLOOM_LIBRARY={core_library()}",
        f"-DTOPOLOOM_INCLUDE_DIR={ROOT / 'core/topoloom/capi'}",
    ]
