# SPDX-License-Identifier: BSD-3-Clause
"""Samples the communication of placed runs, with the recorder preloaded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom._core import Error
from topoloom.preload.record.live_ranks import request_recordings
from topoloom.preload.record.merge_recordings import read_recording
from topoloom.preload.record.notes_folder import notes_folder
from topoloom.preload.record.recorder_library import build_recorder
from topoloom.preload.shim import find_compiler, find_launcher

if TYPE_CHECKING:
    from topoloom.graphs.profile import Profile


class CommunicationSampler:
    """The recorder for a run that must not depend on it.

    Attributes
    ----------
    library
        The recorder, to be preloaded.
    variables
        Environment variables of the ranks.
    """

    def __init__(self, library: Path, folder: str) -> None:
        self.library = library
        self.variables = {"TOPOLOOM_RECORD": folder}
        self._folder = folder

    def request_counts(self, _is_time_up: bool) -> None:
        """Make the ranks write their counts before a signal ends them."""
        with contextlib.suppress(OSError):
            request_recordings(self._folder)

    def read_profile(self, exit_status: int) -> Profile:
        """Read what the ranks have counted.

        Raises `topoloom.Error` if that is incomplete or damaged.
        """
        try:
            return read_recording(self._folder, exit_status)
        except (OSError, ValueError) as error:
            raise Error(str(error)) from None


@contextlib.contextmanager
def sample_communication(
    command: list[str], mpicc: str | None
) -> Iterator[CommunicationSampler]:
    """Build the recorder, and make a folder for its files in the working directory.

    Raises `topoloom.Error` if that is not possible.
    """
    library = build_recorder(find_compiler(find_launcher(command), mpicc))
    with notes_folder(".", "sample") as folder:
        yield CommunicationSampler(library, folder)
