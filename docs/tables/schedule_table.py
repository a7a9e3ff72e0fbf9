# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of the page on schedules.

Usage: ``python docs/tables/schedule_table.py``.
"""

from __future__ import annotations

import re
from typing import Any

from topoloom.schedules import schedules

# How formulas of the registry read in TeX, in this order.
TEX = (
    (r"log2", r"\\log_2"),
    (r"ceil\(([^()]*)\)", r"\\lceil \1 \\rceil"),
    (r"2\^(\\lceil .*? \\rceil)", r"2^{\1}"),
    (r"sqrt\((\w+)\)", r"\\sqrt{\1}"),
    (r"cbrt\((\w+)\)", r"\\sqrt[3]{\1}"),
    (r"\^\(([^()]*)\)", r"^{\1}"),
    (r"\b(alpha|beta|gamma|delta)", r"\\\1"),
    (r"_em", "_{em}"),
    (r"degree", r"\\text{degree}"),
    (r"\) \(", ")("),
    (r"\((\w - 1)\) / (\w)", r"\\frac{\1}{\2}"),
    (r"\b(\w) ?/ ?(\w\^\w|\w)", r"\\frac{\1}{\2}"),
    (r"(?<!lceil )(\\log_2 P) (?=[\\(])", r"\1 \\, "),
)


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
        cost = typeset(entry["cost"], entry["operations"])
        print_row(f"`{entry['name']}`", cost, entry["ranks"] or "any number")
    print("\n| option | default | range | meaning |")
    print("| --- | ---: | --- | --- |")
    for entry in table:
        for option in entry["options"]:
            name = f"`{entry['name']}({option['name']})`"
            print_row(name, option["default"], span(option), option["help"])


def typeset(cost: str, operations: list[str]) -> str:
    """Write costs as formulas, each after the operations that it is for, if any."""
    parts = []
    for part in cost.split("; "):
        words, colon, formula = part.rpartition(": ")
        for name in operations:
            if part.startswith(f"{name} "):
                words, colon, formula = name, ": ", part.removeprefix(f"{name} ")
        parts.append(f"{words}{colon}${tex(formula)}$")
    return "; ".join(parts)


def tex(formula: str) -> str:
    """Translate a formula of the registry to TeX."""
    for pattern, replacement in TEX:
        formula = re.sub(pattern, replacement, formula)
    return formula


def print_row(*cells: str) -> None:
    """Print a row of a table."""
    print("|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|")


def span(option: dict[str, Any]) -> str:
    """Write what values an option takes."""
    low, high = option["range"]
    if not (low or high or option["choices"]):
        return "a text"
    return ", ".join(option["choices"]) or f"{low:.0f} to {high:.0f}"


if __name__ == "__main__":
    main()
