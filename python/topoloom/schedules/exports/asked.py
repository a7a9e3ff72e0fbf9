# SPDX-License-Identifier: BSD-3-Clause
"""What is to be exported: a call, its best schedule, and what messages cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoloom._core import Error, NetworkModel, Schedule
from topoloom.schedules.choose import Call, RankSlots


class Asked(NamedTuple):
    """A question that `topoloom collective` has answered, for one more answer.

    Attributes
    ----------
    call
        What is asked of a collective.
    best
        The name of the fastest schedule for these ranks and bytes.
    model
        What a message costs; None, with slots, means what the machine says.
    slots
        Where the ranks are, so that links count.
    """

    call: Call
    best: str
    model: NetworkModel | None
    slots: RankSlots | None = None

    @property
    def schedule(self) -> Schedule:
        """The fastest schedule."""
        return self.call.schedule(self.best)


def only(asked: Sequence[Asked], format_name: str) -> Asked:
    """Give what is asked to a format that holds one schedule."""
    if len(asked) != 1:
        raise Error(f"{format_name} holds one schedule; name one collective")
    return asked[0]
