# SPDX-License-Identifier: BSD-3-Clause
"""The words of a launch line, read with the syntax of its launcher."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.command_line import (
    CommandLine,
    LauncherSyntax,
    MissingProgramError,
    Option,
    parse_command,
)
from topoloom.launch.orders.node_cores import LaunchError, NodeCores, RankCores
from topoloom.support.plain_text import is_number

#: Options that name the hosts of a job, or leave some out.
_HOST_OPTIONS = frozenset(
    {"w", "nodelist", "x", "exclude", "r", "relative", "H", "host", "hosts", "hostlist"}
    | {"hostfile", "machinefile", "default-hostfile", "machine", "f", "add-host"}
)
#: (nodes of the job, number of ranks) -> node and cores of each rank
PlaceRanks = Callable[[Sequence[NodeCores], int], list[RankCores]]


class LaunchOrderRules(NamedTuple):
    """What a launch line says about the placement of ranks.

    Attributes
    ----------
    ranks
        Number of ranks; None if not given.
    cores_per_rank
        Number of cores of each rank.
    place
        Places the ranks of a job.
    axes
        Axes of the job's box in the order in which nodes are numbered, the first one
        fastest: ``XYZ``; "" if nodes keep the order of the allocation.
    assumption
        What is assumed on nodes of several packages; "" for nothing.
    """

    ranks: int | None
    cores_per_rank: int
    place: PlaceRanks
    axes: str = ""
    assumption: str = ""


class LaunchOptions(NamedTuple):
    """The options of a launch line."""

    command: CommandLine

    @property
    def ranks(self) -> int | None:
        """The number of ranks; None if not given."""
        return self.command.rank_count()

    def find(self, *names: str) -> Option | None:
        """Return the last option with one of these names."""
        return next(reversed(self.command.find_options(names)), None)

    def find_count(self, *names: str) -> int | None:
        """Return the value of an option that is a positive number."""
        option = self.find(*names)
        return None if option is None else read_count(option.values[0], option.text)


def read_count(text: str, option: str) -> int:
    """Read a positive number, the value of `option`."""
    if not is_number(text) or not 0 < int(text) < 2**31:
        raise LaunchError(f"'{option}': expected an integer of 1 or more")
    return int(text)


def read_options(
    words: Sequence[str], syntax: LauncherSyntax, refused: Collection[str]
) -> LaunchOptions:
    """Read a launch line, with or without a program; refuse some of the options.

    Raises `LaunchError` for unknown or refused options, and for several programs.
    """
    try:
        try:
            command = parse_command(words, syntax)
        except MissingProgramError:
            command = parse_command([*words, "program"], syntax)
        command.rank_count()  # raises an error for a bad number
    except Error as error:
        raise LaunchError(f"'{' '.join(words)}': {error}") from None
    if len(command.segments) > 1:
        raise LaunchError("starts several programs; only one is supported")
    for option in command.find_options(refused):
        if option.name in _HOST_OPTIONS:
            raise LaunchError(
                f"'{option.text}' chooses hosts; leave it out, and name them in their "
                "order in --allocation"
            )
        raise LaunchError(
            f"'{option.text}' of {words[0]} is not supported; leave it out, or judge "
            "where the ranks started with 'topoloom judge GRAPH FILE'"
        )
    return LaunchOptions(command)
