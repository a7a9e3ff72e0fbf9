# SPDX-License-Identifier: BSD-3-Clause
"""Measured exchanges between pairs of ranks, stored in a few arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
#: Initial capacity of a table, and number of objects that one step creates.
_FEW, _AT_ONCE = 256, 4096


class Order(NamedTuple):
    """An order to a measurement job."""

    #: ``circle``, ``pairs``, ``alone``, ``together``, or a setting for later orders.
    how: str
    kind: str = ""  # kind in `mpi/probe/kinds`, such as ``echo``; empty for settings
    sizes: Sequence[int] = ()  # message sizes in bytes
    window: int = 1  # consecutive messages
    rest: str = ""  # rest of the order's line, such as the pairs

    @property
    def line(self) -> str:
        """The order as a line of the job's input."""
        measured = [self.kind, ",".join(map(str, self.sizes)), str(self.window)]
        words = [self.how, *(measured if self.kind else []), self.rest]
        return " ".join(filter(None, words)) + "\n"


class Exchange(NamedTuple):
    """Samples of one pair of ranks in one order."""

    order: int  # number of the order; several exchanges of an order may be concurrent
    how: str
    kind: str
    bytes: int
    window: int
    first: int
    second: int
    seconds: NDArray[np.float64]

    @property
    def median(self) -> float:
        """Median of the samples, in seconds."""
        return float(np.median(self.seconds))


class _ExchangeStore:
    """Arrays that can grow: one row of integers per exchange, and all samples."""

    def __init__(self) -> None:
        self.count = 0
        self._rows = np.zeros(
            (_FEW, 4), np.int32
        )  # columns: order, bytes, first, second
        self._ends = np.zeros(_FEW, np.int64)
        self._seconds = np.zeros(_FEW)

    @property
    def rows(self) -> NDArray[np.int32]:
        return self._rows[: self.count]

    @property
    def ends(self) -> Numbers:
        """End index of the samples of each exchange."""
        return self._ends[: self.count]

    @property
    def seconds(self) -> NDArray[np.float64]:
        return self._seconds[: self._ends[self.count - 1] if self.count else 0]

    def add(
        self,
        rows: NDArray[np.int32],
        counts: Numbers,
        seconds: NDArray[np.float64],
    ) -> None:
        before, count = len(self.seconds), self.count + len(rows)
        self._rows = _grow_array(self._rows, count)
        self._ends = _grow_array(self._ends, count)
        self._seconds = _grow_array(self._seconds, before + len(seconds))
        self._rows[self.count : count] = rows
        self._ends[self.count : count] = before + np.cumsum(counts)
        self._seconds[before : before + len(seconds)] = seconds
        self.count = count


class Exchanges(Sequence[Exchange]):
    """A selection of a table's exchanges, whose objects are created on access.

    Attributes
    ----------
    order, bytes, first, second
        Order number, message size in bytes and the two ranks of each exchange; shape
        ``(exchanges,)``.
    """

    def __init__(
        self,
        orders: Sequence[Order],
        store: _ExchangeStore,
        chosen: Numbers | None = None,
    ) -> None:
        self._orders, self._store, self._chosen = orders, store, chosen

    @property
    def _rows(self) -> NDArray[np.int32]:
        rows = self._store.rows
        return rows if self._chosen is None else rows[self._chosen]

    @property
    def order(self) -> Numbers:
        """Order number of each exchange."""
        return self._rows[:, 0].astype(np.int64)

    @property
    def bytes(self) -> Numbers:
        """Message size of each exchange in bytes."""
        return self._rows[:, 1].astype(np.int64)

    @property
    def first(self) -> Numbers:
        """Initiating rank of each exchange."""
        return self._rows[:, 2].astype(np.int64)

    @property
    def second(self) -> Numbers:
        """Answering rank of each exchange."""
        return self._rows[:, 3].astype(np.int64)

    @property
    def counts(self) -> Numbers:
        """Number of samples of each exchange."""
        ends = self._store.ends
        counts = np.diff(ends, prepend=0)
        return counts if self._chosen is None else counts[self._chosen]

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Samples of all exchanges in seconds, exchange by exchange."""
        if self._chosen is None:
            return self._store.seconds
        return np.concatenate([e.seconds for e in self] or [np.zeros(0)])

    @property
    def medians(self) -> NDArray[np.float64]:
        """Median seconds of each exchange."""
        return self._apply_by_count(lambda samples: np.median(samples, axis=1))

    @property
    def relative_deviations(self) -> NDArray[np.float64]:
        """Median deviation of each exchange's samples, relative to their median."""

        def compute_deviations(samples: NDArray[np.float64]) -> NDArray[np.float64]:
            middle = np.median(samples, axis=1)
            found: NDArray[np.float64] = np.median(
                np.abs(samples - middle[:, None]), axis=1
            )
            return found / middle

        return self._apply_by_count(compute_deviations)

    def _apply_by_count(self, of_rows: object) -> NDArray[np.float64]:
        """Apply a function to matrices, each of exchanges with equally many samples."""
        counts, ends = self.counts, self._store.ends
        if self._chosen is not None:
            ends = ends[self._chosen]
        seconds, found = self._store.seconds, np.full(len(counts), np.nan)
        for count in np.unique(counts):
            some = np.flatnonzero(counts == count)
            at = (ends[some] - count)[:, None] + np.arange(count)
            found[some] = of_rows(seconds[at])  # type: ignore[operator]
        return found

    def select_by_mask(self, chosen: NDArray[np.bool_]) -> Exchanges:
        """Select exchanges by a mask."""
        places = np.flatnonzero(chosen)
        here = places if self._chosen is None else self._chosen[places]
        return Exchanges(self._orders, self._store, here)

    def select_orders(self, numbers: Sequence[int]) -> Exchanges:
        """Select the exchanges of the orders with these numbers."""
        if isinstance(numbers, range) and numbers.step == 1:
            order = self._rows[:, 0]
            return self.select_by_mask(
                (order >= numbers.start) & (order < numbers.stop)
            )
        return self.select_by_mask(
            np.isin(self._rows[:, 0], np.array(numbers, np.int64))
        )

    def __len__(self) -> int:
        return self._store.count if self._chosen is None else len(self._chosen)

    @overload
    def __getitem__(self, at: int) -> Exchange: ...
    @overload
    def __getitem__(self, at: slice) -> Exchanges: ...
    def __getitem__(self, at: int | slice) -> Exchange | Exchanges:
        if isinstance(at, slice):
            places = np.arange(len(self))[at]
            here = places if self._chosen is None else self._chosen[places]
            return Exchanges(self._orders, self._store, here)
        place = range(len(self))[at]
        row = place if self._chosen is None else int(self._chosen[place])
        return next(self._create_exchanges(np.array([row])))

    def __iter__(self) -> Iterator[Exchange]:
        for begin in range(0, len(self), _AT_ONCE):
            at = range(begin, min(begin + _AT_ONCE, len(self)))
            yield from self._create_exchanges(
                np.array(at)
                if self._chosen is None
                else self._chosen[at.start : at.stop]
            )

    def _create_exchanges(self, rows: Numbers) -> Iterator[Exchange]:
        every = self._store.seconds
        ends = self._store.ends[rows]
        begins = np.where(rows > 0, self._store.ends[rows - 1], 0)
        for (order, size, first, second), begin, end in zip(
            self._store.rows[rows].tolist(), begins.tolist(), ends.tolist(), strict=True
        ):
            own = self._orders[order]
            yield Exchange(
                *(
                    order,
                    own.how,
                    own.kind or own.how,
                    size,
                    own.window,
                ),
                *(first, second, every[begin:end]),
            )


class ExchangeTable(Exchanges):
    """Table of all measured exchanges, which can grow.

    Parameters
    ----------
    orders
        Orders by number; the list may grow.
    """

    def __init__(self, orders: Sequence[Order]) -> None:
        super().__init__(orders, _ExchangeStore())

    def append(self, exchange: Exchange) -> None:
        """Add an exchange."""
        row = (exchange.order, exchange.bytes, exchange.first, exchange.second)
        self._store.add(
            np.array([row], np.int32),
            np.array([len(exchange.seconds)]),
            exchange.seconds,
        )

    def extend(self, rows: NDArray[np.integer], seconds: NDArray[np.float64]) -> None:
        """Add several exchanges.

        `rows`: for each exchange, order, bytes, first rank, second rank, and number of
        samples; shape ``(exchanges, 5)``. `seconds`: all samples, exchange by exchange.
        """
        self._store.add(
            rows[:, :4].astype(np.int32), rows[:, 4].astype(np.int64), seconds
        )

    def copy_from(self, earlier: Exchanges, order: int) -> None:
        """Add exchanges of an earlier probe under a new order number."""
        counts = earlier.counts
        rows = np.stack(
            [
                np.full(len(earlier), order),
                *(earlier.bytes, earlier.first, earlier.second, counts),
            ],
            axis=1,
        )
        self.extend(rows, earlier.seconds)


def _grow_array(array: NDArray, count: int) -> NDArray:  # type: ignore[type-arg]
    if count <= len(array):
        return array
    more = np.zeros((max(count, 2 * len(array)), *array.shape[1:]), array.dtype)
    more[: len(array)] = array
    return more
