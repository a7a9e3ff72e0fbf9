# SPDX-License-Identifier: BSD-3-Clause
"""The table of formats of decisions and schedules: one file each, one line here."""

from __future__ import annotations

from typing import Protocol

from topoloom.schedules.exports import (
    goal,
    intel_mpi,
    mpich,
    mpich_5,
    msccl_xml,
    open_mpi,
)
from topoloom.schedules.exports.asked import Asked
from topoloom.support.nearest import find_by_name


class ScheduleFormat(Protocol):
    """What the file of a format defines."""

    NAME: str
    SUMMARY: str
    USE: str  # the command that reads it

    def write(self, *asked: Asked) -> str:
        """Write what is asked, or raise `topoloom.Error` if the format cannot."""


FORMATS: tuple[ScheduleFormat, ...] = (
    open_mpi,
    mpich,
    mpich_5,
    intel_mpi,
    goal,
    msccl_xml,
)


def find_format(name: str) -> ScheduleFormat:
    """Find a format by name; raise `topoloom.Error` naming the nearest one."""
    return find_by_name("format", name, {each.NAME: each for each in FORMATS})
