# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a probe: exchanges between ranks, and the files that store them."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.probe.job.exchanges import Exchange, Exchanges, ExchangeTable, Order
from topoloom.support.files import open_atomically
from topoloom.support.npz_archive import open_archive

__all__ = [
    "Exchange",
    "Exchanges",
    "Order",
    "ProbeSamples",
    "RankPlace",
    "load_cost_matrix",
    "load_samples",
    "parse_order",
    "save_samples",
]

FORMAT = "topoloom-probe"
VERSION = 1
#: Maximum number of ranks up to which costs have double precision, and number of rows
#: per write.
_MAX_EXACT_RANKS, _ROWS = 4096, 256


class RankPlace(NamedTuple):
    """The host and the CPU affinity of a rank."""

    host: str  # host name from MPI
    cpus: str  # CPUs of the rank, such as ``0-3,8``; empty if unknown
    library: str  # MPI library


@dataclass
class ProbeSamples:
    """All samples of a job, in the order of measurement."""

    places: list[RankPlace]
    orders: list[Order] = field(default_factory=list)
    exchanges: ExchangeTable = field(init=False)

    def __post_init__(self) -> None:
        self.exchanges = ExchangeTable(self.orders)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.places)

    def select(self, how: str, kind: str) -> Exchanges:
        """Select the exchanges of a kind."""
        return self.exchanges.select_orders(
            [
                number
                for number, order in enumerate(self.orders)
                if order.how == how and (order.kind or order.how) == kind
            ]
        )

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(self.exchanges.seconds)


class CostRows(Protocol):
    """A matrix that can be read row by row."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and the number of columns."""
        ...

    def __getitem__(self, rows: slice, /) -> Any:
        """Return rows as an array."""
        ...


def save_samples(path: Path, samples: ProbeSamples, costs: CostRows) -> None:
    """Write samples and the matrix of costs as ``.npz``, for `load_samples`."""
    found = samples.exchanges
    columns = (found.order, found.bytes, found.first, found.second, found.counts)
    arrays: dict[str, Any] = {
        "format": [FORMAT, str(VERSION)],
        "hosts": [place.host for place in samples.places],
        "cpus": [place.cpus for place in samples.places],
        "libraries": [place.library for place in samples.places],
        "orders": [order.line.rstrip("\n") for order in samples.orders],
        "exchanges": np.stack(columns, axis=1).astype(np.int32),
        "seconds": found.seconds,
    }
    with (
        open_atomically(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array))
        with archive.open("costs.npy", "w", force_zip64=True) as stream:
            _write_rows(stream, costs)


def _write_rows(stream: IO[bytes], costs: CostRows) -> None:
    """Write a matrix row by row, so that it may exceed the memory."""
    ranks = costs.shape[0]
    kind = "<f8" if ranks <= _MAX_EXACT_RANKS else "<f4"
    head = {"descr": kind, "fortran_order": False, "shape": (ranks, ranks)}
    np.lib.format.write_array_header_1_0(stream, head)
    for begin in range(0, ranks, _ROWS):
        stream.write(np.asarray(costs[begin : begin + _ROWS]).astype(kind).tobytes())


#: Exceptions that numpy raises for truncated files and other formats.
_BROKEN = (
    *(ValueError, KeyError, EOFError, TypeError, IndexError),
    *(OverflowError, zipfile.BadZipFile, zlib.error),
)


def load_samples(path: Path) -> ProbeSamples:
    """Read samples that `save_samples` wrote.

    Raises `topoloom.Error` for other files. Raises `OSError` if the file cannot be
    read.
    """
    try:
        with open_archive(path) as file:
            if [*map(str, file["format"])] != [FORMAT, str(VERSION)]:
                raise Error(f"{path}: not samples of a probe in a known format version")
            return _read_samples(file)
    except _BROKEN:
        raise Error(f"{path}: not complete samples of a probe") from None


def load_cost_matrix(path: Path) -> NDArray[np.float64]:
    """Read the seconds of a short message between ranks; NaN if unmeasured.

    Raises `topoloom.Error` for other files and other matrices. Raises `OSError` if the
    file cannot be read.
    """
    try:
        with open_archive(path) as file:
            costs = np.asarray(file["costs"], dtype=np.float64)
    except _BROKEN:
        raise Error(f"{path}: not complete samples of a probe") from None
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1] or not len(costs):
        raise Error(f"{path}: costs must be a matrix of ranks")
    if (costs < 0).any() or np.isinf(costs).any():
        raise Error(f"{path}: costs must be finite seconds, 0 or more")
    return costs


def _read_samples(file: Any) -> ProbeSamples:
    places = map(
        RankPlace,
        map(str, file["hosts"]),
        map(str, file["cpus"]),
        map(str, file["libraries"]),
    )
    samples = ProbeSamples(list(places), [parse_order(str(o)) for o in file["orders"]])
    rows, seconds = file["exchanges"].reshape(-1, 5), file["seconds"].ravel()
    if seconds.dtype.kind != "f" or np.isinf(seconds).any() or (seconds < 0).any():
        raise ValueError("seconds must be finite, and 0 or more")
    order, _, first, second, counts = rows.T
    for numbers, end in ((order, len(samples.orders)), (first, samples.ranks)):
        _check_range(numbers, end)
    _check_range(second, samples.ranks)
    if (counts < 1).any() or counts.sum() != len(seconds):
        raise ValueError("the number of samples does not match the exchanges")
    samples.exchanges.extend(rows, seconds)
    return samples


def _check_range(numbers: NDArray[np.integer], end: int) -> None:
    if numbers.dtype.kind not in "iu" or ((numbers < 0) | (numbers >= end)).any():
        raise ValueError("a rank or order number is out of range")


#: Orders that only change settings and measure no pairs.
_SETUP_ORDERS = ("sampling", "among", "clocks", "noise", "end")


def parse_order(line: str) -> Order:
    """Parse the line of an order."""
    how, _, rest = line.strip().partition(" ")
    if how in _SETUP_ORDERS:
        return Order(how, rest=rest)
    kind, sizes, window, *more = rest.split(" ", 3)
    return Order(how, kind, [*map(int, sizes.split(","))], int(window), *more)
