# SPDX-License-Identifier: BSD-3-Clause
"""A launcher's file format: what it can express, and the command that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.hybrid_ranks import list_thread_variables
from topoloom.launch.nearest_devices import has_known_gpus
from topoloom.launch.rank_location import RankLocation


class HybridOptions(NamedTuple):
    """The words of a command that start ranks of several cores.

    Attributes
    ----------
    variable : str
        Sets a variable for the ranks: ``{name}={value}`` before a launcher that passes
        its environment on, or an option such as ``-x {name}={value}``.
    cores : str
        The option that gives a rank its cores, such as ``-c {cores}``; empty if the
        file names them, or if the launcher has no such option. ``{cpus}`` counts
        hardware threads where they are known, else cores.
    binds : bool
        Whether the option or the file binds a rank to these cores, if ranks share none.
    """

    variable: str = "{name}={value}"
    cores: str = ""
    binds: bool = False


#: The environment is passed on, and ranks are not bound to several cores.
_INHERITED_ENVIRONMENT = HybridOptions()


@dataclass(frozen=True)
class ExportFormat:
    """Properties of an export format, defined by its module.

    Attributes
    ----------
    name, summary : str
        The texts that ``topoloom list exports`` prints.
    usage : str
        The command that reads FILE. Fields in braces: ``ranks``, ``nodes``,
        ``ranks_per_node``, ``hosts``, ``first_host``, ``variables`` and ``cores`` for
        ranks of several cores (see `hybrid`), ``sharing`` for ranks that share slots,
        and the keys of `usage_values`.
    write : function
        Writes a placement; raises `topoloom.Error` if the format cannot express it.
    usage_values : function
        Returns the values of format-specific fields of `usage`.
    binds : str
        ``ranks`` if the file contains the CPUs of every rank; ``alike`` if the command
        binds the i-th ranks of all hosts to the same CPUs; else ``nothing``.
    keeps_slots : function
        Returns whether the file determines each rank's slot, not only its host.
    special_loss : function
        Describes a format-specific loss in one sentence, or returns None.
    hybrid : HybridOptions
        How the command starts ranks of several cores.
    selects_gpus : function
        Returns whether the file or the command gives each rank its nearest GPU.
    sharing : str or None
        Option that lets ranks share slots, if one is needed; None if the format cannot
        express shared slots.
    starts_with : str or None
        Regular expression for the first line of a file in this format; None if the
        format cannot be recognized.
    read : function or None
        Reads a file. Arguments: the text, a placement with one rank on each slot of the
        job, and the number of ranks. Returns the location of each rank, or of the first
        ranks. Raises `topoloom.Error` for invalid files. None if files of this format
        do not contain the placement.
    is_for_launchers : bool
        Whether a launcher reads the hosts in the file, which must then be hosts.
    relies_on : function
        Describes in one sentence what the launch must satisfy to keep the order of the
        ranks, or returns None.
    """

    name: str
    summary: str
    usage: str
    write: Callable[[HostPlacement], str]
    usage_values: Callable[[HostPlacement], Mapping[str, str]] = lambda _: {}
    binds: Literal["ranks", "alike", "nothing"] = "nothing"
    keeps_slots: Callable[[HostPlacement], bool] = lambda _: True
    special_loss: Callable[[HostPlacement], str | None] = lambda _: None
    hybrid: HybridOptions = _INHERITED_ENVIRONMENT
    selects_gpus: Callable[[HostPlacement], bool] = lambda _: False
    sharing: str | None = None
    starts_with: str | None = None
    read: Callable[[str, HostPlacement, int], list[RankLocation]] | None = None
    relies_on: Callable[[HostPlacement], str | None] = lambda _: None
    is_for_launchers: bool = True

    def format_usage_command(self, placement: HostPlacement) -> str:
        """Format the command that uses the file of this placement."""
        counts = placement.ranks_per_host()
        return self.usage.format(
            ranks=placement.rank_count,
            nodes=int((counts > 0).sum()),
            ranks_per_node=int(counts.max(initial=0)),
            hosts=",".join(placement.hosts) if len(placement.hosts) <= 4 else "HOSTS",
            first_host=placement.host_name(0),
            variables=self._format_variables(placement),
            cores=self._format_cores_option(placement),
            sharing=f"{self.sharing} "
            if self.sharing and placement.shares_slots
            else "",
            **self.usage_values(placement),
        )

    def _format_variables(self, placement: HostPlacement) -> str:
        """Format OpenMP's variables for ranks of several cores."""
        lists_cpus = placement.bind is not None and self.binds != "nothing"
        is_bound = lists_cpus or self.hybrid.binds
        return "".join(
            self.hybrid.variable.format(name=name, value=value) + " "
            for name, value in list_thread_variables(placement, is_bound).items()
        )

    def _format_cores_option(self, placement: HostPlacement) -> str:
        cores = placement.cores_per_rank
        if cores == 1 or not self.hybrid.cores:
            return ""
        if placement.bind is not None and self.binds != "nothing":
            return ""
        cpus = placement.cpus_per_rank() or cores
        return self.hybrid.cores.format(cores=cores, cpus=cpus) + " "

    def find_gpu_remark(self, placement: HostPlacement) -> str | None:
        """Say in one sentence that ranks must choose their GPUs; None if not so."""
        if self.selects_gpus(placement) or not has_known_gpus(placement):
            return None
        return (
            f"{self.name} leaves the choice of GPUs to the program; 'export --to "
            "bindings' lists the nearest GPU of each rank"
        )

    def find_loss(self, placement: HostPlacement) -> str | None:
        """Describe in one sentence what the file cannot express; None if nothing."""
        if loss := self.special_loss(placement):
            return loss
        if self.keeps_slots(placement):
            return None
        if placement.machine.nodes_per_host > 1:
            return (
                f"{self.name} names hosts, not GPUs: each rank is on its host, but the "
                "ranks of a host take its GPUs one after the other; torchrun, bindings "
                "and json name GPUs"
            )
        return (
            f"{self.name} names hosts, not cores: each rank is on its host, but the "
            "ranks of a host take its cores one after the other; openmpi-rankfile "
            "names cores"
        )
