# SPDX-License-Identifier: BSD-3-Clause
"""What a launcher is to us: how its options read, and how it takes a placement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from topoloom._core import Error
from topoloom.launch.command_line import CommandLine, Syntax
from topoloom.launch.host_placement import HostPlacement, Ids
from topoloom.support.files import read_text

#: Linux takes no single argument longer than this.
LONGEST_ARGUMENT = 131_071


@dataclass(frozen=True)
class Launch:
    """A command that starts the program as placed.

    Attributes
    ----------
    command : list of str
        What to execute.
    environment : dict
        Variables to add to the environment.
    loss : str or None
        What of the placement the launcher cannot do, in one sentence.
    """

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    loss: str | None = None


class Forwarding(NamedTuple):
    """How a launcher takes variables that only the ranks shall see.

    Attributes
    ----------
    option : str
        What sets one: ``-x`` with ``NAME=VALUE``, or ``-genv`` with two words.
    joined : bool
        Whether name and value are one word.
    each_part : bool
        Whether it holds for one part of ``mpirun -n 2 a : -n 4 b``.
    names : set of str
        All options that set one, as `Syntax` calls them.
    """

    option: str
    joined: bool
    each_part: bool
    names: frozenset[str]

    def words(self, variables: Mapping[str, str]) -> list[str]:
        """Write the options that set these variables."""
        words: list[str] = []
        for name, value in variables.items():
            pair = [f"{name}={value}"] if self.joined else [name, value]
            words += [self.option, *pair]
        return words


class Launcher(Protocol):
    """What the file of a launcher defines."""

    NAME: str
    SYNTAX: Syntax
    NODES_READ_FILES: bool  # so that these must be where all nodes see them
    STARTS_HERE: bool  # where it knows of no hosts

    @property
    def FORWARDING(self) -> Forwarding | None:
        """None: its ranks see the environment of the command."""

    def version(self, text: str) -> tuple[int, ...] | None:
        """Read what ``--version`` printed; None if it is another launcher."""

    def hosts(self, command: CommandLine) -> list[str] | None:
        """List the hosts that the command, or the batch system, names."""

    def apply(
        self,
        command: CommandLine,
        placement: HostPlacement,
        directory: Path,
        version: tuple[int, ...],
    ) -> Launch:
        """Write the files for the placement and build the command that uses them."""


def only_used_hosts(placement: HostPlacement) -> HostPlacement:
    """Leave out hosts without ranks, and begin with the host of rank 0.

    Hydra 5.0 hands standard input to its first host, and dies if rank 0 is not there.
    """
    used, first_rank = np.unique(placement.host, return_index=True)
    return _keep_hosts(placement, used[np.argsort(first_rank)])


def used_hosts_in_order(
    placement: HostPlacement, names: Sequence[str]
) -> HostPlacement | None:
    """Leave out hosts without ranks, the others as in `names`; None if one is not."""
    order = {name: index for index, name in enumerate(names)}
    used = np.unique(placement.host).tolist()
    if any(placement.hosts[host] not in order for host in used):
        return None
    used.sort(key=lambda host: order[placement.hosts[host]])
    return _keep_hosts(placement, np.array(used, dtype=np.int64))


def _keep_hosts(placement: HostPlacement, kept: Ids) -> HostPlacement:
    index = np.full(len(placement.hosts), -1, dtype=np.int64)
    index[kept] = np.arange(len(kept))
    return replace(
        placement,
        hosts=[placement.hosts[host] for host in kept],
        nodes=placement.nodes[kept],
        host=index[placement.host],
        slots_of_host=placement.slots_of_host[kept],
        packages_of_host=placement.packages_of_host[kept],
        parts_of_host=[placement.parts_of_host[host] for host in kept.tolist()],
    )


def refuse(command: CommandLine, names: Collection[str]) -> None:
    """Raise `topoloom.Error` if the command places its ranks itself."""
    for option in command.find(names):
        raise Error(
            f"the command places its ranks itself ({option.text}); leave that option "
            "out to run it with a placement"
        )


def hosts_in_file(path: str) -> list[str]:
    """Read the names in a hostfile of Open MPI or Hydra: first word of each line."""
    names = []
    for line in read_text(path).splitlines():
        words = line.partition("#")[0].split()
        if words:
            names.append(words[0].partition(":")[0].rpartition("@")[2])
    return list(dict.fromkeys(names))


def hosts_in_list(text: str) -> list[str]:
    """Read ``a,b:2,c``, as Open MPI and Hydra write host lists."""
    return list(
        dict.fromkeys(item.partition(":")[0] for item in text.split(",") if item)
    )
