# SPDX-License-Identifier: BSD-3-Clause
"""Finds the host of each rank of an NCCL communicator; in rail networks, the GPU.

The Inspector reports the host and process of a rank, but not its GPU. On each host,
GPUs are assigned in the rank order of the communicator that has the most of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from topoloom._core import Error
from topoloom.graphs.traces.inspector import InspectorLine, Process
from topoloom.probe.locate.machine_parts import MachineParts
from topoloom.support.units import counted

#: Ends of ranks, by communicator and rank; None for unknown GPUs.
RankEnds = dict[str, dict[int, int | None]]
_Members = Mapping[str, Mapping[int, Process]]


def find_rank_ends(
    lines: Sequence[InspectorLine], parts: MachineParts
) -> tuple[RankEnds, list[str]]:
    """Find the end of each rank, with remarks about assumptions.

    Raises `topoloom.Error` if a host is not in the machine, a host has more ranks than
    GPUs, or a rank has two processes.
    """
    numbers = {host: n for n, host in enumerate(parts.hosts)}
    members: dict[str, dict[int, Process]] = defaultdict(dict)
    hosts: dict[str, int] = {}
    for line in lines:
        name = line.process[0]
        number = numbers.get(name, numbers.get(name.partition(".")[0]))
        if number is None:
            raise Error(f"{line.where}: host {name} is not one of the machine's")
        hosts[name] = number
        other = members[line.communicator].setdefault(line.place, line.process)
        if other != line.process:
            raise Error(
                f"{line.where}: rank {line.place} of communicator {line.communicator} "
                f"is process {other[1]} of {other[0]} and {line.process[1]} of {name}; "
                "pass the files of one job"
            )
    if parts.by_gpu:
        return _find_gpu_ends(members, hosts, parts)
    return {
        communicator: {place: hosts[one[0]] for place, one in group.items()}
        for communicator, group in members.items()
    }, []


def _find_gpu_ends(
    members: _Members, hosts: Mapping[str, int], parts: MachineParts
) -> tuple[RankEnds, list[str]]:
    gpus: dict[Process, list[int]] = {}
    unordered, partly = [], []
    for host, number in hosts.items():
        # A process has as many GPUs as it has ranks in a communicator.
        own = _count_most(
            _list_host_processes(group, host) for group in members.values()
        )
        ranks = own.total()
        if ranks > parts.gpus:
            raise Error(
                f"{host} has {counted(ranks, 'rank')} in these files and "
                f"{counted(parts.gpus, 'GPU')} in the machine; "
                "pass the files of one job"
            )
        order = max(
            (_list_host_processes(group, host) for group in members.values()), key=len
        )
        places: Sequence[int] = range(ranks)
        devices = {one[2] for one in own}
        if len(devices) == ranks and devices <= {*range(parts.gpus)}:
            order = list(own)  # lines of Topoloom's plugin contain the GPU
            places = [one[2] for one in order]
        elif len(order) < ranks:
            unordered.append(host)
            order = sorted(own.elements())
        elif ranks < parts.gpus:
            partly.append(host)
        for place, process in zip(places, order, strict=True):
            gpus.setdefault(process, []).append(parts.get_gpu_end(number, place))
    doubts = []
    if unordered:
        doubts.append(
            f"no communicator has all GPUs of {_list_hosts(unordered)}: they are taken "
            "in the order of process ids"
        )
    if partly:
        doubts.append(
            f"the job uses fewer than {parts.gpus} GPUs of {_list_hosts(partly)}: they "
            "are taken for the first ones"
        )
    return {name: _assign_gpus(group, gpus) for name, group in members.items()}, doubts


def _list_host_processes(group: Mapping[int, Process], host: str) -> list[Process]:
    """List the processes of a communicator's ranks on a host, in rank order."""
    return [process for _, process in sorted(group.items()) if process[0] == host]


def _count_most(groups: Iterable[Sequence[Process]]) -> Counter[Process]:
    most: Counter[Process] = Counter()
    for group in groups:
        most |= Counter(group)
    return most


def _assign_gpus(
    group: Mapping[int, Process], gpus: Mapping[Process, Sequence[int]]
) -> dict[int, int | None]:
    """Assign a process's GPUs to its ranks in order; None if their numbers differ."""
    ranks = Counter(group.values())
    given: Counter[Process] = Counter()
    ends: dict[int, int | None] = {}
    for place, process in sorted(group.items()):
        own = gpus[process]
        is_known = len(own) == ranks[process]
        ends[place] = own[given[process]] if is_known else None
        given[process] += 1
    return ends


def _list_hosts(hosts: Sequence[str]) -> str:
    more = len(hosts) - 3
    return ", ".join(hosts[:3]) + (f" and {counted(more, 'other host')}" * (more > 0))
