# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program and verifies the locations of its ranks."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topoloom.documents.programs import Verification
    from topoloom.launch.host_placement import HostPlacement
    from topoloom.launch.launcher import Launch
    from topoloom.preload.record.communication_sampler import CommunicationSampler
    from topoloom.preload.verify import AffinityReport, VerifyAgent


class VerifiedRun(NamedTuple):
    """The exit status of a program, and the locations of its ranks.

    Attributes
    ----------
    status
        The exit status of the program.
    reports
        One report for each MPI program of the command.
    why
        The reason for a missing report; else None.
    """

    status: int
    reports: list[AffinityReport]
    why: str | None

    @property
    def is_verified(self) -> bool:
        """Whether all ranks are at their planned locations."""
        return not self.why and all(report.holds for report in self.reports)

    def summary(self) -> str:
        """Describe the locations; add a line for each rank at another location."""
        seen = [report.describe() for report in self.reports]
        unverified = f"the ranks' locations were not observed: {self.why}"
        return "\n".join(seen) or unverified

    def document(self) -> Verification:
        """Return the fields of the ``--json`` output."""
        programs = [report.document() for report in self.reports]
        return {"holds": self.is_verified, "reason": self.why, "programs": programs}


@contextlib.contextmanager
def start_verify_agent(
    placed: HostPlacement,
    command: list[str],
    mpicc: str | None,
    renumber: bool,
    collectives: str | None = None,
    sampler: CommunicationSampler | None = None,
) -> Iterator[VerifyAgent | str]:
    """Start the agent that verifies locations; yield it, or the error as text.

    It also preloads the library of `sampler`.
    """
    from topoloom._core import Error
    from topoloom.preload.verify import VerifyAgent

    try:
        agent = VerifyAgent(
            placed,
            command,
            mpicc,
            renumber,
            collectives,
            sampler.library if sampler is not None else None,
            sampler.variables if sampler is not None else None,
        )
    except (Error, OSError) as error:
        if renumber or collectives is not None:
            raise
        yield str(error)
        return
    with contextlib.closing(agent):
        yield agent


def preload_agent(
    launch: Launch, agent: VerifyAgent | str
) -> tuple[Launch, VerifyAgent | str]:
    """Return the command that preloads the agent; without an agent, the reason.

    Raises `topoloom.Error` if the agent is required, but cannot be preloaded.
    """
    from topoloom._core import Error

    if isinstance(agent, str):
        return launch, agent
    try:
        return agent.preload_into(launch), agent
    except Error as error:  # The command already preloads an incompatible library.
        if agent.required:
            raise
        return launch, str(error)


def run_verified(
    watched: Launch,
    agent: VerifyAgent | str,
    report: Callable[[AffinityReport], None],
    before_end: Callable[[bool], None] = lambda _: None,
) -> VerifiedRun:
    """Run what `preload_agent` returned; call `report` with the locations of ranks.

    `before_end` is as in `run_program`.
    """
    from topoloom.launch.apply.run_program import run_program
    from topoloom.preload.verify.verify_agent import explain_missing_report

    if isinstance(agent, str):
        return VerifiedRun(run_program(watched), [], agent)
    with agent.watch_reports(report):
        status = run_program(watched, before_end=before_end)
    why = agent.read_error or (
        None if agent.reports else explain_missing_report(status)
    )
    return VerifiedRun(status, agent.reports, why)
