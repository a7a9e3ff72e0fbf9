# SPDX-License-Identifier: BSD-3-Clause
"""Finds a job's launcher and compiler, and preloads libraries into its ranks.

Only the ranks should load the libraries. The launchers of Open MPI and Hydra have
options that set environment variables of the ranks. For all other commands, the
variables are set in the command's environment.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.command_line import Option
from topoloom.launch.launcher import EnvironmentOption
from topoloom.launch.launchers.launcher_commands import (
    RecognizedLauncher,
    follow_links,
    list_programs,
    recognize_launcher,
)

_PRELOAD = "LD_PRELOAD"
#: Suffixes of program names in Debian, such as ``mpicc.openmpi``.
_SUFFIXES = {"Open MPI": "openmpi", "MPICH (Hydra)": "mpich"}


class LaunchProgram(NamedTuple):
    """The first program of a command, usually a launcher."""

    path: Path  # absolute path of the executable
    #: The known launcher; None for any other command, such as a script.
    recognized: RecognizedLauncher | None

    @property
    def forwarding(self) -> EnvironmentOption | None:
        """The option that sets variables for the ranks only; None if there is none."""
        return self.recognized.launcher.ENVIRONMENT_OPTION if self.recognized else None


def find_launcher(command: list[str]) -> LaunchProgram:
    """Find the first program of a command on PATH.

    Raises `topoloom.Error` if the program does not exist.
    """
    if not command:
        raise Error("no command; write it after --, as in: -- mpirun -n 4 ./app")
    found = shutil.which(command[0])
    if found is None:
        raise Error(f"cannot run '{command[0]}': there is no such program")
    path = Path(found).absolute()
    try:
        return LaunchProgram(path, recognize_launcher(found))
    except Error:  # for example, a script named mpirun
        return LaunchProgram(path, None)


def find_compiler(launcher: LaunchProgram, named: str | None = None) -> Path:
    """Find the ``mpicc`` of the launcher's MPI.

    Candidates are ``mpicc.openmpi`` next to ``mpirun.openmpi`` or next to a link to
    ``mpirun.openmpi``, ``mpicc`` next to the launcher, and ``mpicc`` on PATH.

    Raises `topoloom.Error` if no compiler is found.
    """
    if named is not None:
        found = shutil.which(named)
        if found is None:
            raise Error(f"there is no compiler '{named}'")
        return Path(found).absolute()
    for candidate in _list_compilers(launcher):
        if os.access(candidate, os.X_OK):
            return candidate
    found = shutil.which("mpicc") or (
        shutil.which("cc") if "CRAYPE_VERSION" in os.environ else None
    )
    if found is None:
        raise Error(
            f"no mpicc next to {launcher.path} or on PATH; pass the compiler of your "
            "program's MPI with --mpicc"
        )
    return Path(found).absolute()


def find_c_compiler() -> Path:
    """Find a C compiler: the command in ``CC``, or cc, gcc or clang on PATH.

    Raises `topoloom.Error` if no compiler is found.
    """
    named = os.environ.get("CC")
    for name in [named] if named else ["cc", "gcc", "clang"]:
        if found := shutil.which(name):
            return Path(found).absolute()
    missing = f"'{named}' of CC does not exist" if named else "cc, gcc, clang"
    raise Error(
        f"no C compiler ({missing}), but the NCCL plugin is compiled on first use: "
        "install a C compiler, or set CC"
    )


def add_preload(
    launcher: LaunchProgram,
    command: list[str],
    libraries: Sequence[Path],
    variables: Mapping[str, str],
    environment: Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """Preload `libraries` into the ranks, before the user's own preloaded libraries.

    Returns
    -------
    tuple
        The command and its environment, which set `variables` for the ranks.

    Raises
    ------
    topoloom.Error
        If parts of an MPMD command preload different libraries, or srun does not export
        the environment.
    """
    environment = dict(environment)
    _check_export(launcher, command, environment)
    command, user_libraries = _extract_preload(
        launcher, command, environment.get(_PRELOAD, "")
    )
    preloaded = ":".join(filter(None, [*map(str, libraries), user_libraries]))
    variables = {_PRELOAD: preloaded, **variables}
    if launcher.forwarding is not None:
        options = launcher.forwarding.write(variables)
        each_part = launcher.forwarding.is_per_program
        return _insert_options(command, options, each_part), environment
    environment.update(variables)
    # If a script calls Open MPI's mpirun, these variables are forwarded to other nodes.
    forwarded = environment.get("OMPI_MCA_mca_base_env_list")
    # A semicolon would end the value, so only the name is passed; mpirun then reads the
    # value from the environment.
    pairs = [name if ";" in v else f"{name}={v}" for name, v in variables.items()]
    listed = ";".join([forwarded, *pairs] if forwarded else pairs)
    environment["OMPI_MCA_mca_base_env_list"] = listed
    environment["PRTE_MCA_prte_forward_environment"] = "1"
    return command, environment


def _check_export(
    launcher: LaunchProgram, command: list[str], environment: Mapping[str, str]
) -> None:
    if launcher.recognized is None or launcher.recognized.launcher.NAME != "Slurm":
        return
    exports = [environment.get("SLURM_EXPORT_ENV", "ALL")]
    with contextlib.suppress(Error):
        options = launcher.recognized.read(command).line.find_options({"export"})
        exports += [option.values[0] for option in options]
    names = exports[-1].split(",")
    if "ALL" not in names or any(name.startswith(f"{_PRELOAD}=") for name in names):
        raise Error(
            f"srun --export={exports[-1]} keeps {_PRELOAD} from the ranks; remove it "
            "or pass --export=ALL (SLURM_EXPORT_ENV=ALL)"
        )


def _extract_preload(
    launcher: LaunchProgram, command: list[str], inherited: str
) -> tuple[list[str], str]:
    """Remove LD_PRELOAD options from the command, because only one takes effect."""
    forwarding = launcher.forwarding
    if launcher.recognized is None or forwarding is None:
        return command, inherited
    try:
        line = launcher.recognized.read(command).line
    except Error:
        return command, inherited
    own = [
        o
        for o in line.find_options(forwarding.names)
        if _parse_variable(o)[0] == _PRELOAD
    ]
    if not own:
        return command, inherited

    def resolve_preload(options: list[Option], default: str) -> str:
        setting = _parse_variable(options[-1])[1] if options else default
        return inherited if setting is None else setting

    for_all = forwarding.option.removeprefix("-")
    general = [o for o in own if o.name == for_all and not forwarding.is_per_program]
    everywhere = resolve_preload(general, inherited)
    special = [o for o in own if o not in general]
    parts = [[o for o in part.options if o in special] for part in line.segments]
    values = {resolve_preload(options, everywhere) for options in parts}
    if len(values) > 1:
        raise Error(
            "the parts of the command preload different libraries; run them separately"
        )
    kept = [
        replace(part, options=tuple(o for o in part.options if o not in own))
        for part in line.segments
    ]
    return replace(line, segments=tuple(kept)).build((), ()), values.pop()


def _parse_variable(option: Option) -> tuple[str, str | None]:
    """Parse ``NAME=VALUE``, ``NAME VALUE``, or ``NAME``, whose value is then None."""
    name, equals, value = "=".join(option.values).partition("=")
    return name, value if equals else None


def _insert_options(
    command: list[str], options: list[str], each_part: bool
) -> list[str]:
    words = [command[0], *options]
    for word in command[1:]:
        words += [word, *options] if word == ":" and each_part else [word]
    return words


def _list_compilers(launcher: LaunchProgram) -> list[Path]:
    paths = [launcher.path, *follow_links(launcher.path)]
    candidates = [
        path.parent / f"mpicc.{path.name.partition('.')[2]}"
        for path in paths
        if "." in path.name
    ]
    if launcher.path.parent == Path("/usr/bin"):  # shared by Debian's MPIs
        name = launcher.recognized.launcher.NAME if launcher.recognized else ""
        suffix = _SUFFIXES.get(name)
        candidates += [launcher.path.parent / f"mpicc.{suffix}"] if suffix else []
    if launcher.path.name == "smpirun":  # SimGrid's
        candidates.append(launcher.path.parent / "smpicc")
    return candidates + [path.parent / "mpicc" for path in paths]


def suggest_only_launcher(command: Sequence[str]) -> str:
    """Return a hint if a command that failed as a launcher contains a program.

    The program can also be a wrapper, such as numactl, which starts what follows.
    """
    programs = list_programs(command)
    if not programs:
        return ""
    return f"; give only the launcher after --, without '{programs[0]}'"
