# SPDX-License-Identifier: BSD-3-Clause
"""The interface of launcher modules, and code shared by launchers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topoloom._core import Error
from topoloom.launch.command_line import CommandLine, Syntax
from topoloom.support.files import read_text

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

#: Open MPI 4 prints nothing about a core that does not exist.
NO_MESSAGE = "without a message; has every host as many cores as the machine says?"
#: Linux takes no single argument longer than this.
LONGEST_ARGUMENT = 131_071


@dataclass(frozen=True)
class Launch:
    """A command that starts the program as placed.

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
    """The option of a launcher that sets variables for the ranks only.

    Attributes
    ----------
    option : str
        ``-x`` with ``NAME=VALUE``, or ``-genv`` with two arguments.
    is_joined : bool
        Whether name and value are one argument.
    is_per_program : bool
        Whether it applies to one program of ``mpirun -n 2 a : -n 4 b``.
    names : set of str
        All options that set a variable, as `Syntax` calls them.
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
    """The interface of a launcher's module."""

    NAME: str
    SYNTAX: Syntax
    NEEDS_SHARED_FILES: bool  # all nodes read the files that `apply` writes
    IS_LOCAL_BY_DEFAULT: bool  # without a list of hosts, ranks start on this one

    @property
    def ENVIRONMENT_OPTION(self) -> EnvironmentOption | None:
        """None if the ranks inherit the environment of the command."""

    def parse_version(self, text: str) -> tuple[int, ...] | None:
        """Read the output of ``--version``; None if it is another launcher's."""

    def list_hosts(self, command: CommandLine) -> list[str] | None:
        """List the hosts that the command, or the batch system, names."""

    def apply(
        self,
        command: CommandLine,
        placement: HostPlacement,
        directory: Path,
        version: tuple[int, ...],
    ) -> Launch:
        """Write the files of the placement and build the command that reads them."""


def refuse_options(command: CommandLine, names: Collection[str]) -> None:
    """Raise `topoloom.Error` if the command places its ranks itself."""
    for option in command.find_options(names):
        raise Error(
            f"the command places its ranks itself ({option.text}); leave that option "
            "out to run it with a placement"
        )


def named_hosts(
    command: CommandLine, files: Collection[str], lists: Collection[str]
) -> list[str] | None:
    """List the hosts of the options for hostfiles and for lists; None without any."""
    hosts: list[str] = []
    for option in command.find_options(files):
        hosts += _read_hostfile(option.values[0])
    for option in command.find_options(lists):
        items = option.values[0].split(",")
        hosts += dict.fromkeys(item.partition(":")[0] for item in items if item)
    return hosts or None


def _read_hostfile(path: str) -> list[str]:
    """Read a hostfile of Open MPI or Hydra: a name begins each line."""
    names = []
    for line in read_text(path).splitlines():
        words = line.partition("#")[0].split()
        if words:
            names.append(words[0].partition(":")[0].rpartition("@")[2])
    return list(dict.fromkeys(names))
