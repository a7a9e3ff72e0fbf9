# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a machine's short text, for those who write it in another format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ShortText:
    """``kind:body,key=value,...+node:inside``; items without ``=`` are left out."""

    kind: str
    body: str
    options: dict[str, str]
    inside: str

    @property
    def sizes(self) -> list[int]:
        """The numbers of the body of a torus, mesh or tree."""
        return [int(part) for part in self.body.replace("x", ":").split(":")]


def short_text(text: str) -> ShortText:
    """Take a short text apart that `topoloom.Machine` has accepted."""
    network, _, inside = text.partition("+node:")
    head, *items = network.split(",")
    kind, _, body = head.partition(":")
    options = dict(item.split("=", 1) for item in items if "=" in item)
    return ShortText(kind, body, options, inside)
