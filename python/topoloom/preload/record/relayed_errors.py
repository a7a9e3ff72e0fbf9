# SPDX-License-Identifier: BSD-3-Clause
"""Forwards the standard error of a launcher, and keeps a copy."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

_READ_BYTES = 1 << 16
#: Bytes that are kept from the beginning, and from the end.
_KEPT_BYTES = 1 << 15
_STANDARD_ERROR = 2
_SECONDS_TO_END = 0.5


class RelayedErrors:
    """A pipe whose data a thread copies to standard error.

    Launchers pass on the output of their ranks through pipes of their own, so that
    ranks see no difference.
    """

    def __init__(self) -> None:
        outlet, self.inlet = os.pipe()
        self._head, self._tail = bytearray(), bytearray()
        self._reader = threading.Thread(
            target=self._copy_pipe, args=(outlet,), daemon=True
        )
        self._reader.start()

    @property
    def text(self) -> str:
        """The first and the last bytes that were written."""
        return bytes(self._head + self._tail).decode(errors="replace")

    def close_inlet(self) -> None:
        """Close this process's write end, once the child process has its own."""
        if self.inlet >= 0:
            os.close(self.inlet)
        self.inlet = -1

    def finish(self) -> None:
        """Wait until all data is copied, unless a daemon keeps the pipe open."""
        self.close_inlet()
        self._reader.join(_SECONDS_TO_END)

    def _copy_pipe(self, outlet: int) -> None:
        with contextlib.closing(os.fdopen(outlet, "rb", 0)) as source:
            while data := source.read(_READ_BYTES):
                with contextlib.suppress(OSError):  # closed by its reader
                    _write_all(data)
                room = max(0, _KEPT_BYTES - len(self._head))
                self._head += data[:room]
                self._tail += data[room:]
                del self._tail[:-_KEPT_BYTES]


@contextlib.contextmanager
def relay_errors(enabled: bool) -> Iterator[RelayedErrors | None]:
    """Yield a pipe for a child's standard error; None unless `enabled`."""
    relay = RelayedErrors() if enabled else None
    try:
        yield relay
    finally:
        if relay is not None:
            relay.finish()


def _write_all(data: bytes) -> None:
    while data:
        data = data[os.write(_STANDARD_ERROR, data) :]
