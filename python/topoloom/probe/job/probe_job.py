# SPDX-License-Identifier: BSD-3-Clause
"""Runs the measurement job, which executes orders and keeps writing its answers."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.preload.shim import build_program, find_compiler, find_launcher
from topoloom.probe.job.samples import Exchanges, Order, ProbeSamples, RankPlace
from topoloom.support.child_processes import (
    BackgroundChild,
    find_error_line,
    run_in_background,
)
from topoloom.support.files import make_shared_directory

#: Timeout in seconds: a job that does not answer for this long is abandoned.
ANSWER_TIMEOUT = 300.0
_POLL = 0.005
_FIELDS = 5


class JobEnded(Error):
    """Raised if the job has ended or does not answer; its samples are preserved."""


class ProbeJob:
    """A running measurement job.

    Attributes
    ----------
    samples
        All samples measured so far.
    """

    def __init__(
        self,
        folder: Path,
        child: BackgroundChild,
        launcher: str,
        earlier: ProbeSamples | None = None,
    ) -> None:
        self._folder, self._child, self._launcher = folder, child, launcher
        self._read = 0  # number of bytes of answers that were read so far
        self._asked = self._done = 0
        self._numbers: list[int] = []  # numbers of the orders that were written
        self.samples = ProbeSamples(self._read_places())
        self._earlier = {} if earlier is None else self._group_earlier(earlier)
        self._repeated: set[object] = (
            set()
        )  # keys of orders of the earlier probe that were not repeated yet

    def measure(self, orders: Sequence[Order]) -> Exchanges:
        """Execute orders; return their exchanges, which are also added to `samples`.

        Raises `JobEnded` if the job ends early, or does not answer for `ANSWER_TIMEOUT`
        seconds.
        """
        before = len(self.samples.exchanges)
        lines = []
        for order in orders:
            number = len(self.samples.orders)
            self.samples.orders.append(order)
            known = self._earlier.get(_make_order_key(order))
            if known is None:
                self._numbers.append(number)
                lines.append(order.line)
            else:
                self._repeated.add(_make_order_key(order))
                self.samples.exchanges.copy_from(known[1], number)
        if lines:
            self._write_orders("".join(lines))
            self._asked += len(lines)
            self._wait_until(lambda: self._read_answers() and self._done >= self._asked)
        return self.samples.exchanges[before:]

    def _write_orders(self, lines: str) -> None:
        orders = self._folder / "orders"
        try:
            with orders.open("a", encoding="utf-8") as file:
                file.write(lines)
        except (
            OSError
        ) as error:  # if the disk is full, the error does not name the file
            error.filename = error.filename or str(orders)
            raise

    def copy_earlier(self) -> None:
        """Copy exchanges of the earlier probe whose orders this job did not repeat."""
        for key, (order, known) in self._earlier.items():
            if key not in self._repeated:
                self.samples.orders.append(order)
                self.samples.exchanges.copy_from(known, len(self.samples.orders) - 1)

    def _group_earlier(
        self, earlier: ProbeSamples
    ) -> dict[object, tuple[Order, Exchanges]]:
        """Group the exchanges of the earlier probe by the key of their order."""
        if earlier.places != self.samples.places:
            raise Error(
                "the earlier samples are of other ranks or hosts; measure again, "
                "or start the ranks on the earlier hosts"
            )
        numbers: dict[object, list[int]] = {}
        for number in np.unique(earlier.exchanges.order).tolist():
            numbers.setdefault(_make_order_key(earlier.orders[number]), []).append(
                number
            )
        return {
            key: (earlier.orders[each[0]], earlier.exchanges.select_orders(each))
            for key, each in numbers.items()
        }

    def _read_places(self) -> list[RankPlace]:
        lines: list[str] = []

        def has_all_ranks() -> bool:
            file = self._folder / "ranks"
            lines[:] = (
                file.read_text(encoding="utf-8").splitlines() if file.exists() else []
            )
            return bool(lines) and lines[-1] == "all"

        self._wait_until(has_all_ranks)
        places = (line.split(" ", 2) for line in lines[:-1])
        return [
            RankPlace(host, "" if cpus == "-" else cpus, library)
            for host, cpus, library in places
        ]

    def _wait_until(self, ready: Callable[[], bool]) -> None:
        last_answer, read = time.monotonic(), self._read
        while not ready():
            if self._child.status is not None and not ready():
                raise JobEnded(
                    f"'{self._launcher}' ended with status {self._child.status}: "
                    f"{self._find_reason()}"
                )
            if self._read > read:
                last_answer, read = time.monotonic(), self._read
            if time.monotonic() - last_answer > ANSWER_TIMEOUT:
                raise JobEnded(
                    f"'{self._launcher}' has not answered for {ANSWER_TIMEOUT:.0f} s; "
                    "check that rank 0 can access the working directory"
                )
            time.sleep(_POLL)

    def _read_answers(self) -> bool:
        """Read the complete blocks of new answers; always return True."""
        file = self._folder / "results"
        if not file.exists():
            return True
        with file.open(
            "rb"
        ) as stream:  # reopen, since network file systems only then show new data
            stream.seek(self._read)
            data = stream.read()
        while len(data) >= 24:
            done, records, count = np.frombuffer(data, np.int64, 3).tolist()
            numbers_end = 24 + 4 * _FIELDS * records
            end = numbers_end + 8 * count
            if len(data) < end:
                break
            numbers = np.frombuffer(data[24:numbers_end], np.int32)
            self._store_answers(
                numbers.reshape(-1, _FIELDS),
                np.frombuffer(data[numbers_end:end], np.float64),
            )
            self._done = done
            self._read += end
            data = data[end:]
        return True

    def _store_answers(
        self, records: NDArray[np.int32], seconds: NDArray[np.float64]
    ) -> None:
        order, first, second, size, count = records.T
        numbers = np.array(self._numbers, np.int64)[order]
        rows = np.stack([numbers, size, first, second, count], axis=1)
        self.samples.exchanges.extend(rows[count > 0], seconds)

    def _find_reason(self) -> str:
        output = self._child.output
        if self._child.status == 0 and not output.strip():
            return "it did not start what measures; write it without a program"
        return find_error_line(output)


def _make_order_key(order: Order) -> object:
    """Build the key of an order, which omits a scan's round trips per sample."""
    window = 0 if order.how == "circle" else order.window
    return order.how, order.kind, tuple(order.sizes), window, order.rest


@contextlib.contextmanager
def start_probe_job(
    launcher: Sequence[str],
    mpicc: str | None = None,
    earlier: ProbeSamples | None = None,
) -> Iterator[ProbeJob]:
    """Start a measurement job, which ends with the context.

    Raises `topoloom.Error` if the launcher or its compiler is missing. Raises
    `JobEnded` if the job does not start.

    Parameters
    ----------
    launcher
        Command that starts the ranks, without a program.
    mpicc
        Compiler wrapper of the same MPI; by default the one next to the launcher.
    earlier
        Samples of an earlier probe, which are reused instead of measured again.
    """
    words = list(launcher)
    if not words:
        raise Error("no launcher; write it after --, as in: -- mpirun -n 4")
    compiler = find_compiler(find_launcher(words), mpicc)
    program = build_program(
        "probe", compiler, ["mpi/errors", "mpi/probe/kinds", "mpi/timing"]
    )
    with make_shared_directory("probe") as directory:
        folder = Path(directory).absolute()
        (folder / "orders").touch()
        command = [*words, str(program), str(folder)]
        with run_in_background(command, Path.cwd()) as child:
            job = ProbeJob(folder, child, words[0], earlier)
            yield job
            with (
                contextlib.suppress(OSError),
                (folder / "orders").open("a", encoding="utf-8") as file,
            ):
                file.write("end\n")
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(10)
