# SPDX-License-Identifier: BSD-3-Clause
"""An export request: a call, its best schedule, and message costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoloom._core import Error, NetworkModel, Schedule
from topoloom.schedules.choose import Call, RankSlots


class ExportRequest(NamedTuple):
    """A call whose schedules `topoloom collective export` has ranked."""

    call: Call
    best: str  # name of the fastest schedule
    #: Message costs; None: the machine's, which requires `slots`.
    model: NetworkModel | None
    slots: RankSlots | None = None  # If given, costs include link contention.

    @property
    def schedule(self) -> Schedule:
        """Make the fastest schedule of the call."""
        return self.call.schedule(self.best)


def get_single_request(
    requests: Sequence[ExportRequest], format_name: str
) -> ExportRequest:
    """Return the only request; raise if a one-schedule format got several."""
    if len(requests) != 1:
        raise Error(f"{format_name} holds one schedule; name one collective")
    return requests[0]
