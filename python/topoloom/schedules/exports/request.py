# SPDX-License-Identifier: BSD-3-Clause
"""The request for an export: a call, its best schedule, and message costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoloom._core import Error, NetworkModel, Schedule
from topoloom.schedules.choose import Call, RankSlots


class ExportRequest(NamedTuple):
    """A call that `topoloom collective` has ranked the schedules of.

    Attributes
    ----------
    call
        Of the collective.
    best
        Name of the fastest schedule.
    model
        Of message costs; None, with slots, means the machine's.
    slots
        Of the ranks, so that links count.
    """

    call: Call
    best: str
    model: NetworkModel | None
    slots: RankSlots | None = None

    @property
    def schedule(self) -> Schedule:
        """The fastest schedule."""
        return self.call.schedule(self.best)


def single_request(
    requests: Sequence[ExportRequest], format_name: str
) -> ExportRequest:
    """Return the request of a format that holds one schedule."""
    if len(requests) != 1:
        raise Error(f"{format_name} holds one schedule; name one collective")
    return requests[0]
