# SPDX-License-Identifier: BSD-3-Clause
"""The request for an export: a call, its best schedule, and message costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoloom._core import Error, NetworkModel, Schedule
from topoloom.schedules.choose import Call, RankSlots


class ExportRequest(NamedTuple):
    """A call that `topoloom collective` has ranked the schedules of."""

    call: Call
    best: str  # name of the fastest schedule
    #: Message costs; None, with slots, means the machine's.
    model: NetworkModel | None
    slots: RankSlots | None = None  # of the ranks; with them, links count

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
