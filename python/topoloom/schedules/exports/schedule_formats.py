# SPDX-License-Identifier: BSD-3-Clause
"""Table of export formats; each format is a module of this package."""

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
from topoloom.support.name_lookup import find_by_name


class ScheduleFormat(Protocol):
    """Interface of an export module."""

    NAME: str
    USE: str  # shell command that uses FILE

    def write(self, *requests: ExportRequest) -> str:
        """Write the requests; raise `topoloom.Error` if one is unsupported."""


FORMATS: tuple[ScheduleFormat, ...] = (
    open_mpi,
    mpich,
    mpich_5,
    intel_mpi,
    goal,
    msccl_xml,
)


def find_format(name: str) -> ScheduleFormat:
    """Find a format by name; the error message suggests the most similar name."""
    return find_by_name("format", name, {each.NAME: each for each in FORMATS})
