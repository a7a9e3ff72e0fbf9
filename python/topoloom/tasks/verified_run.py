# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program and verifies the locations of its ranks."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topoloom.launch.host_placement import HostPlacement
    from topoloom.launch.launcher import Launch
    from topoloom.preload.verify import AffinityReport, VerifyAgent


class RunReport(NamedTuple):
    """The exit status of a program, and the locations of its ranks.

    Attributes
    ----------
    status
        The exit status.
    proofs
        A proof for each MPI program of the command.
    why
        The reason if a proof is missing.
    """

    status: int
    proofs: list[AffinityReport]
    why: str | None

    @property
    def holds(self) -> bool:
        """Whether all ranks are at their planned locations."""
        return not self.why and all(proof.holds for proof in self.proofs)

    def summary(self) -> str:
        """Describe the locations in a line, with more for ranks that are elsewhere."""
        seen = [proof.describe() for proof in self.proofs]
        unverified = f"the ranks' locations were not observed: {self.why}"
        return "\n".join(seen) or unverified

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
    """Prepare the verification of ranks; yield the reason if that is not possible."""
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
    launch: Launch, witness: VerifyAgent | str, report: Callable[[AffinityReport], None]
) -> RunReport:
    """Run to the end; `report` is called when ranks have reported their locations."""
    from topoloom._core import Error
    from topoloom.launch.apply.program import run_program
    from topoloom.preload.verify.verify_agent import explain_missing_report

    watched = launch
    if not isinstance(witness, str):
        try:
            watched = witness.preload_into(launch)
        except Error as error:  # The command preloads an incompatible library.
            if witness.required:
                raise
            witness = str(error)
    if isinstance(witness, str):
        return RunReport(run_program(launch), [], witness)
    with witness.reporting(report):
        status = run_program(watched)
    why = witness.read_error or (
        None if witness.reports else explain_missing_report(status)
    )
    return RunReport(status, witness.reports, why)
