# SPDX-License-Identifier: BSD-3-Clause
"""The interface of launcher modules, and code shared by launchers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topoloom._core import Error
from topoloom.launch.command_line import CommandLine, LauncherSyntax
from topoloom.support.files import read_text

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

#: Used if a launcher prints no message, as Open MPI 4 does if a core does not exist.
NO_MESSAGE = "printed no reason; check that hosts have as many cores as described"
#: Maximum length of a single argument on Linux, in bytes.
LONGEST_ARGUMENT = 131_071


@dataclass(frozen=True)
class Launch:
    """A command that starts the program with a placement.

    Attributes
    ----------
    command : list of str
        The command to execute.
    environment : dict
        Variables to add to the environment.
    loss : str or None
        Parts of the placement that the launcher cannot apply, in one sentence.
    """

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    loss: str | None = None


class EnvironmentOption(NamedTuple):
    """The launcher option that sets environment variables for the ranks only.

    Attributes
    ----------
    option : str
        ``-x`` with ``NAME=VALUE``, or ``-genv`` with two arguments.
    is_joined : bool
        Whether name and value are one argument.
    is_per_program : bool
        Whether the option applies to one program of ``mpirun -n 2 a : -n 4 b``.
    names : set of str
        Names in `LauncherSyntax` of all options that set a variable.
    """

    option: str
    is_joined: bool
    is_per_program: bool
    names: frozenset[str]

    def write(self, variables: Mapping[str, str]) -> list[str]:
        """Write the options that set these variables."""
        arguments: list[str] = []
        for name, value in variables.items():
            pair = [f"{name}={value}"] if self.is_joined else [name, value]
            arguments += [self.option, *pair]
        return arguments


class Launcher(Protocol):
    """Interface of launcher modules."""

    NAME: str
    SYNTAX: LauncherSyntax
    NEEDS_SHARED_FILES: bool  # whether all nodes read the files from `apply`
    IS_LOCAL_BY_DEFAULT: bool  # whether ranks start on this host by default
    BINDING: frozenset[str]  # names of options with which a command binds its ranks

    @property
    def ENVIRONMENT_OPTION(self) -> EnvironmentOption | None:
        """Option for environment variables; None if ranks inherit the environment."""

    def parse_version(self, text: str) -> tuple[int, ...] | None:
        """Parse the output of ``--version``; None if it is from another launcher."""

    def list_hosts(self, command: CommandLine) -> list[str] | None:
        """List the hosts from the command or the batch system."""

    def apply(
        self,
        command: CommandLine,
        placement: HostPlacement,
        directory: Path,
        version: tuple[int, ...],
    ) -> Launch:
        """Write the placement files, and build the command that uses them."""


def reject_options(command: CommandLine, names: Collection[str]) -> None:
    """Raise `topoloom.Error` if the command has options that place ranks."""
    for option in command.find_options(names):
        raise Error(
            f"the command places its ranks itself ({option.text}); leave that option "
            "out to run it with a placement"
        )


def list_option_hosts(
    command: CommandLine, files: Collection[str], lists: Collection[str]
) -> list[str] | None:
    """List the hosts in hostfile and host list options; None without such options."""
    hosts: list[str] = []
    for option in command.find_options(files):
        hosts += _read_hostfile(option.values[0])
    for option in command.find_options(lists):
        items = option.values[0].split(",")
        hosts += dict.fromkeys(item.partition(":")[0] for item in items if item)
    return hosts or None


def _read_hostfile(path: str) -> list[str]:
    """Read a hostfile of Open MPI or Hydra, whose lines begin with a host name."""
    names = []
    for line in read_text(path).splitlines():
        words = line.partition("#")[0].split()
        if words:
            names.append(words[0].partition(":")[0].rpartition("@")[2])
    return list(dict.fromkeys(names))
