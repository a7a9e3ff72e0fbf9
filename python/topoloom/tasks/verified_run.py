# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program and reports whether its ranks are where they are planned."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topoloom.launch.host_placement import HostPlacement
    from topoloom.launch.launcher import Launch
    from topoloom.preload.verify import AffinityReport, VerifyAgent


class RunReport(NamedTuple):
    """What came of a program.

    Attributes
    ----------
    status
        Its exit status.
    proofs
        One for each MPI program of the command.
    why
        Why there is none, or one is missing.
    """

    status: int
    proofs: list[AffinityReport]
    why: str | None

    @property
    def holds(self) -> bool:
        """Whether all ranks were seen where they should be."""
        return not self.why and all(proof.holds for proof in self.proofs)

    def words(self) -> str:
        """Say it in a line, or in more where ranks are elsewhere."""
        seen = [proof.describe() for proof in self.proofs]
        unseen = f"the ranks' locations were not observed: {self.why}"
        return "\n".join(seen) or unseen

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        programs = [proof.document() for proof in self.proofs]
        return {"holds": self.holds, "why_not": self.why, "programs": programs}


@contextlib.contextmanager
def find_witness(
    placed: HostPlacement,
    command: list[str],
    mpicc: str | None,
    renumber: bool,
    collectives: str | None = None,
) -> Iterator[VerifyAgent | str]:
    """Prepare to see where the ranks are; else say why they cannot be seen."""
    from topoloom._core import Error
    from topoloom.preload.verify import VerifyAgent

    try:
        witness = VerifyAgent(placed, command, mpicc, renumber, collectives)
    except (Error, OSError) as error:
        if renumber or collectives is not None:
            raise
        yield str(error)
        return
    with contextlib.closing(witness):
        yield witness


def run_witnessed(
    launch: Launch, witness: VerifyAgent | str, tell: Callable[[AffinityReport], None]
) -> RunReport:
    """Run to the end; `tell` hears of the ranks as soon as they are seen."""
    from topoloom._core import Error
    from topoloom.launch.apply.program import run_program
    from topoloom.preload.verify.verify_agent import explain_missing_report

    watched = launch
    if not isinstance(witness, str):
        try:
            watched = witness.preload_into(launch)
        except Error as error:  # The command preloads what ours cannot go with.
            if witness.required:
                raise
            witness = str(error)
    if isinstance(witness, str):
        return RunReport(run_program(launch), [], witness)
    with witness.reporting(tell):
        status = run_program(watched)
    why = witness.read_error or (
        None if witness.reports else explain_missing_report(status)
    )
    return RunReport(status, witness.reports, why)
