# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of the reference page on mappers, as the registry has them.

Usage: ``python docs/tables/mapper_reference.py [PAGE]``; the page is
``docs/reference/mappers.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from topoloom._core import mappers

PAGE = Path(__file__).parents[1] / "reference" / "mappers.md"


def main(page: Path) -> None:
    """Replace the tables between their marks."""
    text = page.read_text()
    for name, rows in (("mappers", mapper_rows()), ("options", option_rows())):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        text = "".join([before, begin, *(f"{line}\n" for line in rows), end, after])
    page.write_text(text)


def mapper_rows() -> list[str]:
    """Write a row for every mapper, in the registry's order."""
    entries: list[dict[str, Any]] = mappers()
    return [
        "| name | kind | what it does | source |",
        "| --- | --- | --- | --- |",
        *(
            row(f"`{entry['name']}`", entry["kind"], entry["summary"], entry["source"])
            for entry in entries
        ),
    ]


def option_rows() -> list[str]:
    """Write a row for every option of every mapper."""
    entries: list[dict[str, Any]] = mappers()
    return [
        "| option | default | range | meaning |",
        "| --- | ---: | --- | --- |",
        *(
            row(
                f"`{entry['name']}({option['name']})`",
                option["default"],
                span(option),
                option["help"],
            )
            for entry in entries
            for option in entry["options"]
        ),
    ]


def row(*cells: str) -> str:
    """Write a row of a table."""
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def span(option: dict[str, Any]) -> str:
    """Write what values an option takes."""
    low, high = option["range"]
    if not (low or high or option["choices"]):
        return "a text"
    return ", ".join(option["choices"]) or f"{low:.0f} to {high:.0f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE)
