# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of a job, whatever framework runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod
from typing import ClassVar

from topoloom.graphs.layouts import Layout


class Job(ABC):
    """A job, as a framework divides its ranks."""

    #: The name of the framework.
    framework: ClassVar[str]

    @property
    @abstractmethod
    def mesh(self) -> dict[str, int]:
        """The axes that multiply the ranks."""

    @property
    @abstractmethod
    def axes(self) -> dict[str, int]:
        """The sizes of all axes, those of the experts last."""

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return prod(self.mesh.values())

    @abstractmethod
    def layouts(self) -> list[Layout]:
        """Return all layouts that differ, the framework's default first."""

    @abstractmethod
    def settings(self, name: str) -> list[str]:
        """List what to set for the layout of this name."""

    def variants(self) -> Sequence[Job]:
        """Return this job, and those that differ in what was left open."""
        return [self]
