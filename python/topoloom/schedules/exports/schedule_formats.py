# SPDX-License-Identifier: BSD-3-Clause
"""The table of export formats; each is one file."""

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
from topoloom.schedules.exports.request import ExportRequest
from topoloom.support.nearest import find_by_name


class ScheduleFormat(Protocol):
    """A module that writes one format."""

    NAME: str
    USE: str  # the command that reads it

    def write(self, *requests: ExportRequest) -> str:
        """Write the requests; raise `topoloom.Error` if the format cannot."""


FORMATS: tuple[ScheduleFormat, ...] = (
    open_mpi,
    mpich,
    mpich_5,
    intel_mpi,
    goal,
    msccl_xml,
)


def find_format(name: str) -> ScheduleFormat:
    """Find a format by name; errors name the nearest one."""
    return find_by_name("format", name, {each.NAME: each for each in FORMATS})
