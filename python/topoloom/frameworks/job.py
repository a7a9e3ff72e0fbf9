# SPDX-License-Identifier: BSD-3-Clause
"""Interface of the jobs of all training frameworks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod
from typing import ClassVar

from topoloom.graphs.layouts import Layout


class Job(ABC):
    """A job whose ranks a framework divides into process groups."""

    #: Name of the framework.
    framework: ClassVar[str]

    @property
    @abstractmethod
    def mesh(self) -> dict[str, int]:
        """Sizes of the axes whose product is the number of ranks."""

    @property
    @abstractmethod
    def axes(self) -> dict[str, int]:
        """Sizes of all axes; expert axes are last."""

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return prod(self.mesh.values())

    @abstractmethod
    def layouts(self) -> list[Layout]:
        """List the distinct layouts, the framework's default first."""

    @abstractmethod
    def settings(self, name: str) -> list[str]:
        """List the framework settings for the named layout."""

    def variants(self) -> Sequence[Job]:
        """Return this job, and jobs with other values for sizes left unspecified."""
        return [self]
