# SPDX-License-Identifier: BSD-3-Clause
"""Reads the pages of `topoloom help`."""

from __future__ import annotations

from pathlib import Path

TOPICS = (
    "graphs",
    "machines",
    "allocations",
    "launchers",
    "mappers",
    "objectives",
    "placements",
)


def read_topic(name: str) -> str:
    """Return the page of a topic in `TOPICS`."""
    file = Path(__file__).parent / "topics" / f"{name}.txt"
    return file.read_text(encoding="utf-8")


def read_title(name: str) -> str:
    """Return what the title says about the topic, without its name."""
    return read_topic(name).partition("\n")[0].partition(": ")[2]
