# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of the page on schedules.

Usage: ``python docs/schedule_table.py``.
"""

from __future__ import annotations

from typing import Any

from topoloom.schedules import schedules


def main() -> None:
    """Print the tables as Markdown."""
    table: list[dict[str, Any]] = schedules()
    print("| name | of | what it does | source |")
    print("| --- | --- | --- | --- |")
    for entry in table:
        operations = ", ".join(entry["operations"])
        print_row(f"`{entry['name']}`", operations, entry["summary"], entry["source"])
    print("\n| name | seconds | ranks |")
    print("| --- | --- | --- |")
    for entry in table:
        print_row(f"`{entry['name']}`", entry["cost"], entry["ranks"] or "any number")
    print("\n| option | default | range | meaning |")
    print("| --- | ---: | --- | --- |")
    for entry in table:
        for option in entry["options"]:
            name = f"`{entry['name']}({option['name']})`"
            print_row(name, option["default"], span(option), option["help"])


def print_row(*cells: str) -> None:
    """Print a row of a table."""
    print("|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|")


def span(option: dict[str, Any]) -> str:
    """Write what values an option takes."""
    low, high = option["range"]
    return ", ".join(option["choices"]) or f"{low:.0f} to {high:.0f}"


if __name__ == "__main__":
    main()
