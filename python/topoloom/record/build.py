# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the recorder with the user's own ``mpicc``, once per MPI, into a cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from topoloom._core import Error
from topoloom.record.wrappers import wrappers

_OPTIONS = [
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-shared",
    "-pthread",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
]


def build_recorder(compiler: Path) -> Path:
    """Return the recorder's library for the MPI of `compiler`, compiled if need be.

    Raises
    ------
    topoloom.Error
        If the compiler fails; the message ends with its first complaint.
    """
    sources = sorted(_source_folder().glob("*.[ch]"))
    header = _compile([str(compiler), "-E", "-x", "c", "-"], "#include <mpi.h>\n")
    generated = wrappers((_source_folder() / "calls.txt").read_text(), header)
    key = hashlib.blake2b(digest_size=12)
    for source in sources:
        key.update(source.read_bytes())
    # The header after the preprocessor holds the version of MPI; -show where it lies.
    for text in (generated, header, _show(compiler), " ".join(_OPTIONS)):
        key.update(text.encode())
    library = _cache() / f"recorder-{key.hexdigest()}.so"
    if library.exists():
        return library
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        wrapper_file = Path(folder) / "wrappers.c"
        wrapper_file.write_text(generated)
        made = Path(folder) / "recorder.so"
        files = [str(file) for file in [*sources, wrapper_file] if file.suffix == ".c"]
        include = f"-I{_source_folder()}"
        _compile([str(compiler), *_OPTIONS, include, *files, "-o", str(made), "-ldl"])
        made.replace(library)
    return library


def _source_folder() -> Path:
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "mpi" / "record", package.parents[1] / "mpi" / "record"):
        if (folder / "calls.txt").exists():
            return folder
    raise Error(
        f"the recorder's source is missing in {package}: install topoloom again"
    )


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home).absolute() / "topoloom"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _show(compiler: Path) -> str:
    answer = subprocess.run(
        [compiler, "-show"], capture_output=True, text=True, check=False
    )
    return f"{compiler} {answer.stdout}"


def _compile(command: list[str], text: str = "") -> str:
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise Error(f"cannot run {command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        complaints = [line for line in done.stderr.splitlines() if "error" in line]
        raise Error(
            f"{command[0]} cannot compile the recorder: "
            f"{(complaints or [done.stderr.strip() or 'no reason given'])[0]}"
        )
    return done.stdout
