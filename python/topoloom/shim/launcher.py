# SPDX-License-Identifier: BSD-3-Clause
"""What starts the job: its MPI, that MPI's compiler, and how it takes variables.

Shims should reach the ranks and nothing else. Open MPI's and Hydra's launchers take
variables for the ranks alone; any other command gets them in its environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error

#: what ``--version`` says -> family
_FAMILIES = {
    "Open MPI": "openmpi",
    "OpenRTE": "openmpi",
    "PRRTE": "openmpi",
    "PRTE": "openmpi",
    "Intel(R) MPI": "hydra",
    "HYDRA": "hydra",
}
_NAMES = ("mpirun", "mpiexec", "orterun", "prterun")


class Launcher(NamedTuple):
    """The first word of a command.

    Attributes
    ----------
    path
        Where it is.
    family
        ``openmpi``, ``hydra`` (MPICH and what came from it), or ``""`` for any other
        command: ``srun``, a script.
    """

    path: Path
    family: str


def find_launcher(command: list[str]) -> Launcher:
    """Look at the first word of `command`.

    Raises
    ------
    topoloom.Error
        If there is no such program.
    """
    if not command:
        raise Error("no command; write it after --, as in: -- mpirun -n 4 ./app")
    found = shutil.which(command[0])
    if found is None:
        raise Error(f"cannot run '{command[0]}': there is no such program")
    path = Path(found).absolute()
    names = {path.name, *(link.name for link in _links(path))}
    if not any(name.split(".")[0] in _NAMES for name in names):
        return Launcher(path, "")
    return Launcher(path, _family(path))


def find_compiler(launcher: Launcher, named: str | None = None) -> Path:
    """Find the ``mpicc`` of the MPI that `launcher` belongs to.

    ``mpirun.openmpi`` has ``mpicc.openmpi`` beside it, also where ``mpirun`` is only a
    link to it; else ``mpicc`` beside the launcher, else the first on PATH.

    Raises
    ------
    topoloom.Error
        If there is none.
    """
    if named is not None:
        found = shutil.which(named)
        if found is None:
            raise Error(f"there is no compiler '{named}'")
        return Path(found).absolute()
    for candidate in _compilers(launcher):
        if os.access(candidate, os.X_OK):
            return candidate
    found = shutil.which("mpicc") or (
        shutil.which("cc") if "CRAYPE_VERSION" in os.environ else None
    )
    if found is None:
        raise Error(
            f"no mpicc beside {launcher.path} or on PATH; shims are compiled with "
            "the MPI of your program: name its compiler with --mpicc"
        )
    return Path(found).absolute()


def preloaded_command(
    launcher: Launcher,
    command: list[str],
    libraries: Sequence[Path],
    variables: Mapping[str, str],
    environment: Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """Preload `libraries` into the ranks, before those that are preloaded anyway.

    Returns
    -------
    tuple
        The command and its environment; the ranks see `variables`, too.
    """
    environment = dict(environment)
    preloaded = [*map(str, libraries), environment.get("LD_PRELOAD", "")]
    variables = {"LD_PRELOAD": ":".join(filter(None, preloaded)), **variables}
    if launcher.family == "openmpi":
        return _with_options(command, variables), environment
    if launcher.family == "hydra":
        options = [w for name in variables for w in ("-genv", name, variables[name])]
        return [command[0], *options, *command[1:]], environment
    environment.update(variables)
    # For a script that calls Open MPI's mpirun on several nodes.
    forwarded = environment.get("OMPI_MCA_mca_base_env_list")
    pairs = [f"{name}={value}" for name, value in variables.items()]
    listed = ";".join([forwarded, *pairs] if forwarded else pairs)
    environment["OMPI_MCA_mca_base_env_list"] = listed
    environment["PRTE_MCA_prte_forward_environment"] = "1"
    return command, environment


def _with_options(command: list[str], variables: Mapping[str, str]) -> list[str]:
    """``-x`` holds for one part of ``mpirun -n 2 a : -n 4 b``, so each part gets it."""
    options = [
        w for name, value in variables.items() for w in ("-x", f"{name}={value}")
    ]
    words = [command[0], *options]
    for word in command[1:]:
        words += [word, *options] if word == ":" else [word]
    return words


def _family(path: Path) -> str:
    try:
        answer = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = answer.stdout + answer.stderr
    return next((family for word, family in _FAMILIES.items() if word in text), "")


def _links(path: Path) -> list[Path]:
    """Follow symbolic links one by one, as Debian's alternatives need."""
    links: list[Path] = []
    while path.is_symlink() and len(links) < 40:
        target = path.readlink()
        path = path.parent / target
        links.append(path)
    return links


def _compilers(launcher: Launcher) -> list[Path]:
    paths = [launcher.path, *_links(launcher.path)]
    candidates = [
        path.parent / f"mpicc.{path.name.partition('.')[2]}"
        for path in paths
        if "." in path.name
    ]
    if launcher.path.parent == Path("/usr/bin"):  # several MPIs share Debian's /usr/bin
        suffix = {"openmpi": "openmpi", "hydra": "mpich"}.get(launcher.family)
        candidates += [launcher.path.parent / f"mpicc.{suffix}"] if suffix else []
    return candidates + [path.parent / "mpicc" for path in paths]
