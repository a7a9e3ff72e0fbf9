# SPDX-License-Identifier: BSD-3-Clause
"""Writes a run into the store; a store that fails never stops the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any, TypeVar

from topoloom._core import Error
from topoloom.store.location import find_store
from topoloom.store.run_files import ENDED, PLACING, STARTED
from topoloom.store.run_store import RunStore, make_run_id

if TYPE_CHECKING:
    from pathlib import Path

    from topoloom.graphs.profile import Profile
    from topoloom.store.program_identity import ProgramIdentity

Result = TypeVar("Result")
#: Exit statuses of programs that the user or the scheduler ended, as at a time limit.
_ENDED_BY_SIGNAL = (130, 143)


class RunLog:
    """The record of a run, in the store; `failure` is its first error, or None.

    `report` is called with the first error in one sentence.
    """

    def __init__(
        self,
        named_store: str | Path | None,
        record: dict[str, Any],
        report: Callable[[str], None],
    ) -> None:
        self.record = record
        self.failure: str | None = None
        self._report = report
        self._store: RunStore | None = None
        self._is_written = False
        self._guard(lambda: self._open(named_store))

    @property
    def run_id(self) -> str | None:
        """The identifier of the run; None if the store does not have the run."""
        return self.record["id"] if self._is_written else None

    @property
    def is_usable(self) -> bool:
        """Whether the store could be opened."""
        return self._store is not None

    def attempt(self, action: Callable[[RunStore], Result]) -> Result | None:
        """Do something with the store; report the first error and return None."""
        store = self._store
        return None if store is None else self._guard(lambda: action(store))

    def write(self, **facts: Any) -> None:
        """Add facts to the record, and write it."""
        self.record |= facts
        self.attempt(self._write)

    def write_exit(self, exit_status: int, seconds: float) -> None:
        """Write how the program ended; facts about its next run follow."""
        self.write(
            state=PLACING, exit_status=exit_status, wall_seconds=round(seconds, 3)
        )

    def end(self, exit_status: int, seconds: float, **facts: Any) -> None:
        """Write the end of the run; merge the files of earlier runs if necessary."""
        ended = {"exit_status": exit_status, "wall_seconds": round(seconds, 3)}
        self.write(state=ENDED, **ended, **facts)
        if self._is_written:
            self.attempt(lambda store: store.merge_runs())

    def restart(self) -> None:
        """Begin the record of a second run of the same command."""
        again = {"id": make_run_id(), "state": STARTED, "started": round(time(), 3)}
        ended = {
            *("exit_status", "wall_seconds", "mpi_time", "interrupted", "note"),
            *("recording", "drift", "placed_by", "placement", "mapper"),
            *("objective", "predicted", "verified"),
        }
        self.record = {k: v for k, v in self.record.items() if k not in ended} | again
        self._is_written = False

    def keep_recording(
        self, profile: Profile, identity: ProgramIdentity | None
    ) -> str | None:
        """Store a recording, for later runs of the program if it is complete.

        Returns the name of the stored file; None if it could not be stored.
        """
        name = self.attempt(lambda store: store.add_file(".npz", profile.save))
        self.keep_mpi_time(profile)
        if name is None:
            return None
        self.record["recording"] = name
        if identity is not None and is_representative(profile):
            entry = {"recording": name, "run": self.record["id"]}
            here = identity.key_in(self.record["directory"])
            for key in (here, identity.key, identity.like_key):
                self.attempt(partial(RunStore.write_entry, key=key, entry=entry))
        return name

    def keep_mpi_time(self, profile: Profile) -> None:
        """Add the time in MPI and the number of ranks to the record."""
        in_mpi = profile.mpi_time
        self.record["mpi_time"] = in_mpi and in_mpi._asdict()
        self.record["ranks"] = profile.rank_count

    def _guard(self, action: Callable[[], Result]) -> Result | None:
        try:
            return action()
        except (Error, OSError, ValueError) as error:
            if self.failure is None:
                self.failure = _describe(error)
                self._report(self.failure)
            return None

    def _open(self, named_store: str | Path | None) -> None:
        store = RunStore(find_store(named_store))
        store.create()
        self._store = store

    def _write(self, store: RunStore) -> None:
        store.write_run(self.record)
        self._is_written = True


def is_representative(profile: Profile) -> bool:
    """Return whether later runs can be placed by a recording.

    A run that a signal ended, as at a time limit, has communicated like any other if
    all of its ranks were recorded.
    """
    if profile.exit_status == 0:
        return True
    counted = len(profile.traffic) + len(profile.records)
    is_complete = not profile.missing and counted > 0
    return is_complete and profile.exit_status in _ENDED_BY_SIGNAL


def _describe(error: Exception) -> str:
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename else ""
        return f"cannot use the run store{where}: {error.strerror or error}"
    return f"cannot use the run store: {error}"
