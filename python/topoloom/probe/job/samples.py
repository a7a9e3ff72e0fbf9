# SPDX-License-Identifier: BSD-3-Clause
"""What a probe has measured: exchanges of pairs of ranks, every sample of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.files import replacing

FORMAT = "topoloom-probe"
VERSION = 1


class RankPlace(NamedTuple):
    """Where a rank is.

    Attributes
    ----------
    host
        Its name, as MPI gives it.
    cpus
        Those that the rank may use, such as ``0-3,8``; empty where that is unknown.
    library
        Its MPI.
    """

    host: str
    cpus: str
    library: str


class Order(NamedTuple):
    """What a job is asked to measure.

    Attributes
    ----------
    how
        ``circle``, ``pairs``, ``alone`` or ``together``, or what sets up the following.
    kind
        Of `mpi/probe/kinds`, such as ``echo``; empty of what is not measured.
    sizes
        Bytes of a message.
    window
        Messages one after another.
    rest
        What else the line says, such as the pairs.
    """

    how: str
    kind: str = ""
    sizes: Sequence[int] = ()
    window: int = 1
    rest: str = ""

    @property
    def line(self) -> str:
        """The order as the job reads it."""
        measured = [self.kind, ",".join(map(str, self.sizes)), str(self.window)]
        words = [self.how, *(measured if self.kind else []), self.rest]
        return " ".join(filter(None, words)) + "\n"


class Exchange(NamedTuple):
    """Samples of one pair of ranks.

    Attributes
    ----------
    order
        The number of its order: exchanges of one order may have been at once.
    """

    order: int
    how: str
    kind: str
    bytes: int
    window: int
    first: int
    second: int
    seconds: NDArray[np.float64]

    @property
    def median(self) -> float:
        """The median of the samples, in seconds."""
        return float(np.median(self.seconds))


@dataclass
class ProbeSamples:
    """All that a job has measured, in the order in which it was asked."""

    places: list[RankPlace]
    orders: list[Order] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.places)

    def add(
        self,
        order: int,
        size: int,
        first: int,
        second: int,
        seconds: NDArray[np.float64],
    ) -> None:
        """Keep what was found for an order by its number."""
        asked = self.orders[order]
        kind = asked.kind or asked.how
        self.exchanges.append(
            Exchange(order, asked.how, kind, size, asked.window, first, second, seconds)
        )

    def of(self, how: str, kind: str) -> Iterator[Exchange]:
        """Yield the exchanges of a kind."""
        return (e for e in self.exchanges if e.how == how and e.kind == kind)

    @property
    def count(self) -> int:
        """All samples."""
        return sum(len(exchange.seconds) for exchange in self.exchanges)


def save_samples(path: Path, samples: ProbeSamples, costs: NDArray[np.float64]) -> None:
    """Write all as ``.npz``, and the matrix of costs; `load_samples` reads it."""
    found = samples.exchanges
    arrays: dict[str, Any] = {
        "format": [FORMAT, str(VERSION)],
        "hosts": [place.host for place in samples.places],
        "cpus": [place.cpus for place in samples.places],
        "libraries": [place.library for place in samples.places],
        "orders": [order.line.rstrip("\n") for order in samples.orders],
        "exchanges": np.array(
            [(e.order, e.bytes, e.first, e.second, len(e.seconds)) for e in found],
            dtype=np.int64,
        ).reshape(-1, 5),
        "costs": costs,
        "seconds": np.concatenate([e.seconds for e in found] or [np.zeros(0)]),
    }
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)


def load_samples(path: Path) -> ProbeSamples:
    """Read what `save_samples` wrote.

    Raises
    ------
    topoloom.Error
        If it is another file.
    OSError
        If it cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            if [*map(str, file["format"])] != [FORMAT, str(VERSION)]:
                raise Error(f"{path}: not samples of a probe that this version reads")
            return _samples(file)
    except (ValueError, KeyError, EOFError) as error:
        raise Error(f"{path}: not samples of a probe ({error})") from None


def _samples(file: Any) -> ProbeSamples:
    places = map(
        RankPlace,
        map(str, file["hosts"]),
        map(str, file["cpus"]),
        map(str, file["libraries"]),
    )
    samples = ProbeSamples(list(places), [read_order(str(o)) for o in file["orders"]])
    end = 0
    for order, size, first, second, count in file["exchanges"].tolist():
        begin, end = end, end + count
        samples.add(order, size, first, second, file["seconds"][begin:end])
    return samples


#: Orders that measure nothing.
_SETTING_UP = ("sampling", "among", "clocks", "noise", "end")


def read_order(line: str) -> Order:
    """Read the line of an order."""
    how, _, rest = line.strip().partition(" ")
    if how in _SETTING_UP:
        return Order(how, rest=rest)
    kind, sizes, window, *more = rest.split(" ", 3)
    return Order(how, kind, [*map(int, sizes.split(","))], int(window), *more)
