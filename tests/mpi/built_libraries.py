# SPDX-License-Identifier: BSD-3-Clause
"""Libraries for MPI programs, built by CMake for each MPI."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from built_programs import (
    NAP_SOURCE,
    ROOT,
    compile_program,
    get_cached_folder,
    hash_folder,
    run,
    run_once_per_stamp,
)
from mpis import Mpi, need

from topoloom import _core

CAPI = ROOT / "core/topoloom/capi"


def configure(source: Path, folder: Path, mpi: Mpi, *options: object) -> None:
    """Configure the CMake project with an MPI's compilers."""
    languages = {"C": ".c", "CXX": ".cpp", "Fortran": ".f90"}
    compilers = [
        f"-DMPI_{language}_COMPILER={need(mpi.compilers[suffix], mpi.install)}"
        for language, suffix in languages.items()
        if suffix in mpi.compilers
    ]
    if languages["Fortran"] not in mpi.compilers:
        # CMake must not find the Fortran compiler of another MPI.
        compilers.append("-DCMAKE_Fortran_COMPILER=OFF")
    run(["cmake", "-S", source, "-B", folder, *compilers, *options])


def build(folder: Path, target: str) -> None:
    """Build a target in a configured build folder."""
    run(["cmake", "--build", folder, "--target", target, "--parallel", "2"])


def configure_and_build(source: Path, folder: Path, mpi: Mpi, *options: object) -> None:
    """Configure and build with an MPI's compilers."""
    configure(source, folder, mpi, *options)
    build(folder, "all")


def compile_with_collectives(
    mpi: Mpi, source: Path, *options: object, everywhere: str = ""
) -> Path:
    """Compile a C program with libtopoloom-collective in its build folder.

    `everywhere` options are also used to compile the library.
    """
    headers = (f"-I{ROOT / 'mpi' / part}" for part in ("exchange", "grid"))
    return compile_with_library(
        mpi, "collective", source, *headers, *options, everywhere=everywhere
    )


def compile_with_reordering(mpi: Mpi, source: Path) -> Path:
    """Compile a program with libtopoloom-mpi in its build folder."""
    folder = _build_target(mpi, "topoloom-mpi")
    linked = [folder / "libtopoloom-mpi.so", f"-Wl,-rpath,{folder}"]
    standard = "-std=c++20" if source.suffix == ".cpp" else "-std=gnu11"
    words = [standard, "-O1", "-w", f"-I{ROOT / 'mpi/reorder'}"]
    return _compile_linked(mpi, source, *words, linked=linked)


def compile_with_library(
    mpi: Mpi, name: str, source: Path, *options: object, everywhere: str = ""
) -> Path:
    """Compile a program with one library, such as ``stream``, in its build folder.

    `everywhere` options are also used to compile the library.
    """
    return compile_with_libraries(mpi, [name], source, *options, everywhere=everywhere)


def compile_with_libraries(
    mpi: Mpi,
    names: Sequence[str],
    source: Path,
    *options: object,
    everywhere: str = "",
    linked: Sequence[object] = (),
) -> Path:
    """Compile a program with several libraries, and with others that are `linked`."""
    folders = [
        _build_target(mpi, f"topoloom-{name}", everywhere) / name for name in names
    ]
    core = find_core_library().parent
    ours = [folder / f"libtopoloom-{folder.name}.so" for folder in folders]
    paths = [f"-Wl,-rpath,{folder}" for folder in (*folders, core)]
    standard = "-std=c++20" if source.suffix == ".cpp" else "-std=gnu11"
    words = [standard, "-O1", "-w", *(f"-I{ROOT / 'mpi' / name}" for name in names)]
    words += [*map(str, options), *everywhere.split()]
    return _compile_linked(mpi, source, *words, linked=[*ours, *paths, *linked])


def compile_sanitized(
    mpi: Mpi, source: Path, folders: Sequence[Path], sanitizer: str, *linked: object
) -> Path:
    """Compile a C program and all sources in these folders under a sanitizer."""
    compiler = need(mpi.compilers[".c"], mpi.install)
    flags = ["-std=gnu11", "-O1", "-g", "-w", f"-fsanitize={sanitizer}"]
    headers = [f"-I{folder}" for folder in folders]
    files = [file for folder in folders for file in sorted(folder.glob("*.c"))]
    words = [compiler, *flags, *headers, source, *files, *linked]
    return compile_program(f"{source.stem}.{sanitizer}", words)


def installed(mpi: Mpi) -> Path:
    """Install the libraries for an MPI, linked to the Python package's libtopoloom."""
    return _build_target(mpi, "install") / "prefix"


def find_core_library() -> Path:
    """Return the path of the Python package's libtopoloom."""
    return Path(str(_core.__file__)).with_name("libtopoloom.so")


def _compile_linked(
    mpi: Mpi, source: Path, *words: object, linked: Sequence[object]
) -> Path:
    compiler = need(mpi.compilers[source.suffix], mpi.install)
    return compile_program(source.stem, [compiler, *words, source, NAP_SOURCE, *linked])


def _build_target(mpi: Mpi, target: str, c_options: str = "") -> Path:
    """Return the build folder of a target.

    Make rebuilds the target if a source has changed.
    """
    options = [
        f"-DTOPOLOOM_LIBRARY={find_core_library()}",
        f"-DTOPOLOOM_INCLUDE_DIR={CAPI}",
        f"-DCMAKE_C_FLAGS={c_options}",
        *(f"-DCMAKE_{language}_FLAGS_RELEASE=-O1" for language in ("C", "CXX")),
    ]

    def configure_in(folder: Path) -> None:
        prefix = f"-DCMAKE_INSTALL_PREFIX={folder / 'prefix'}"
        configure(ROOT / "mpi", folder, mpi, prefix, *options)

    folder = get_cached_folder(
        f"libraries-{mpi.name}", [str(mpi), *options], configure_in
    )
    sources = hash_folder(ROOT / "mpi")[:8] + hash_folder(CAPI)[:8]
    stamp, lock = folder / f".{target}-{sources}", folder / ".lock"
    run_once_per_stamp(stamp, lock, partial(build, folder, target))
    return folder
