# SPDX-License-Identifier: BSD-3-Clause
"""Provides the same standard input each time a command is run."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import tempfile
import threading
from collections.abc import Iterator


class RepeatedInput:
    """Passes the complete standard input to each run of a command.

    For a file, the offset is reset. A pipe is copied while the first run reads it;
    later runs read the copy, then the rest of the pipe. Terminals and /dev/null are
    passed unchanged.
    """

    def __init__(self) -> None:
        self._copy = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as this object
        self._original = os.dup(0)
        mode = os.fstat(0).st_mode
        self._start = os.lseek(0, 0, os.SEEK_CUR) if stat.S_ISREG(mode) else None
        self._is_stream = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)

    @contextlib.contextmanager
    def rewind(self) -> Iterator[None]:
        """Provide the complete input to the ``with`` block and its child processes."""
        if self._start is not None:
            os.lseek(0, self._start, os.SEEK_SET)
        if not self._is_stream:
            yield
            return
        outlet, inlet = os.pipe()
        ended, end = os.pipe()
        os.dup2(outlet, 0)
        os.close(outlet)
        feeder = threading.Thread(
            target=self._feed_pipe, args=(inlet, ended), daemon=True
        )
        feeder.start()
        try:
            yield
        finally:
            os.dup2(self._original, 0)  # closes the read end; wakes a writer
            os.close(end)
            feeder.join()
            os.close(ended)

    def _feed_pipe(self, inlet: int, ended: int) -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(inlet, "wb", 0) as sink:
            self._copy.seek(0)
            while data := self._copy.read(65536):
                _write_all(sink.fileno(), data)
            while True:
                ready, _, _ = select.select([self._original, ended], [], [])
                if ended in ready:
                    return
                data = os.read(self._original, 65536)
                if not data:
                    return
                self._copy.seek(0, os.SEEK_END)
                self._copy.write(data)
                _write_all(sink.fileno(), data)


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
