# SPDX-License-Identifier: BSD-3-Clause
"""Builds rounds of pairs that overload no link, according to a machine description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.probe.stages.meetings import Pair, Round

#: Maximum number of rounds to which pairs can still be added.
_MAX_OPEN_ROUNDS = 64


class DescribedRoutes:
    """The routes between hosts in a machine description.

    Raises
    ------
    topoloom.Error
        If a host is not in the description.
    """

    def __init__(self, claimed: str | Path, hosts: Sequence[str]) -> None:
        self.machine, described = load_machine_and_description(claimed)
        number = {host: node for node, host in enumerate(described.hosts)}
        if missing := [host for host in hosts if host not in number]:
            raise Error(f"{claimed} does not contain the host {missing[0]}")
        self.nodes = [number[host] for host in hosts]

    def links(self, a: int, b: int) -> dict[int, int]:
        """Return the links between two hosts, in both directions, and capacities.

        A capacity is how many pairs a link can carry at once: its bandwidth divided by
        the lowest bandwidth on the route.
        """
        ends = self.nodes[a], self.nodes[b]
        machine = self.machine
        found: dict[int, int] = {}
        for route in (machine.route(*ends), machine.route(*ends[::-1])):
            rates = {link: machine.bandwidth(link) for link, _ in route}
            least = min(rates.values(), default=1.0)
            found |= {link: int(rate / least) for link, rate in rates.items()}
        return found


class _OpenRound:
    """A round to which more pairs can be added."""

    def __init__(self) -> None:
        self.pairs: Round = []
        self._busy = 0  # bit mask of the ranks that are in the round
        self._used: dict[int, int] = {}

    def try_add(self, pair: Pair, links: dict[int, int]) -> bool:
        """Add a pair if its ranks and links are free; return whether it was added."""
        ranks = 1 << pair[0] | 1 << pair[1]
        if self._busy & ranks:
            return False
        used = self._used
        for link, most in links.items():
            if used.get(link, 0) >= most:
                return False
        self.pairs.append(pair)
        self._busy |= ranks
        for link in links:
            used[link] = used.get(link, 0) + 1
        return True


def make_disjoint_rounds(
    routes: DescribedRoutes, host_of: Sequence[int], pairs: Iterable[Pair]
) -> Iterator[Round]:
    """Partition pairs of ranks into rounds in which no rank is shared and no link full.

    Each pair is added to the first open round with free ranks and links. Pairs inside a
    host use no link. Rounds fill well if successive pairs have different ranks.
    """
    opened: list[_OpenRound] = []
    known: dict[Pair, dict[int, int]] = {}
    for pair in pairs:
        hosts = host_of[pair[0]], host_of[pair[1]]
        if hosts not in known:
            known[hosts] = routes.links(*hosts) if hosts[0] != hosts[1] else {}
        links = known[hosts]
        if any(each.try_add(pair, links) for each in opened):
            continue
        if len(opened) == _MAX_OPEN_ROUNDS:
            yield opened.pop(0).pairs
        opened.append(_OpenRound())
        opened[-1].try_add(pair, links)
    yield from (each.pairs for each in opened)


def list_all_pairs(ranks: Sequence[int]) -> Iterator[Pair]:
    """Yield all pairs by the circle method: round after round, each with all ranks."""
    count = len(ranks) - 1 + len(ranks) % 2
    for turn in range(count):
        for own in range(count):
            other = (2 * turn - own) % count
            if other > own:
                yield ranks[own], ranks[other]
        if count < len(ranks):
            yield ranks[turn], ranks[-1]
