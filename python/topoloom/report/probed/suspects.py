# SPDX-License-Identifier: BSD-3-Clause
"""Merges all findings about the same slow host or link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topoloom.report.probed.probed_file import Suspect

_NAMED = 4  # maximum number of hosts that the name of an uplink lists


@dataclass(frozen=True)
class SlowPart:
    """A slow host, link or uplink, with all findings about it."""

    kind: str
    hosts: tuple[str, ...]
    found: tuple[Suspect, ...]

    @property
    def name(self) -> str:
        """The kind and the hosts of the part, such as ``link between n1 and n2``."""
        if self.kind == "link":
            return f"link between {' and '.join(self.hosts)}"
        named = ", ".join(self.hosts[:_NAMED])
        more = len(self.hosts) - _NAMED
        return (
            f"{self.kind} of {named}{f' and {more} more' if more > 0 else ''}".replace(
                "host of ", "host "
            )
        )

    @property
    def sentence(self) -> str:
        """Describe the findings in a sentence without period."""
        worse = ", ".join(
            f"{one.of} {one.factor:.2f} x{one.direction}" for one in self.found
        )
        return f"The {self.name} is slow: {worse} its like"


def merge_suspects(suspects: Sequence[Suspect]) -> list[SlowPart]:
    """Merge findings about the same part, in the order of the suspects."""
    parts: dict[tuple[str, tuple[str, ...]], list[Suspect]] = {}
    for suspect in suspects:
        parts.setdefault((suspect.kind, tuple(suspect.hosts)), []).append(suspect)
    return [SlowPart(*part, tuple(found)) for part, found in parts.items()]
