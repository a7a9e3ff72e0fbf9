# SPDX-License-Identifier: BSD-3-Clause
"""Writes the page of described machines: what each is, its figures, its source.

Usage: ``python docs/machine_table.py > docs/reference/machines.md``. A test holds the
page to what this prints.
"""

from __future__ import annotations

from topoloom.machine_facts import machine_facts
from topoloom.machine_file import load_machine, zoo
from topoloom.units import format_bandwidth

HEAD = """# Machines

What `topoloom list machines` lists, by name; each is a file in `machines/`, with
comments on what is inferred. Figures are those of `topoloom machine show NAME`: links
are directed, distances are hops between different nodes, and the bisection counts both
directions. Where no halving is proven to be the worst, it is given as a range. The page
is the output of `python docs/machine_table.py`.

| name | what | nodes | links | diameter | average distance | bisection |
| --- | --- | ---: | ---: | ---: | ---: | ---: |"""
SOURCES = """
## Sources

| name | date | source |
| --- | --- | --- |"""


def main() -> None:
    """Print the page as Markdown."""
    entries = zoo()
    print(HEAD)
    for entry in entries:
        print(row(entry.name, entry.summary))
    print(SOURCES)
    for entry in entries:
        print(f"| `{entry.name}` | {entry.date} | {entry.source} |")


def row(name: str, summary: str) -> str:
    """Write the line of one machine."""
    facts = machine_facts(load_machine(name))
    cells = [
        f"`{name}`",
        summary,
        f"{facts['nodes']:,}",
        f"{facts['links']:,}",
        str(facts["diameter"]),
        f"{facts['average_distance']:.4f}",
        _bisection(facts),
    ]
    return f"| {' | '.join(cells)} |"


def _bisection(facts: dict[str, object]) -> str:
    bisection = facts["bisection"]
    assert isinstance(bisection, dict)
    least, most = bisection["at_least"], bisection["at_most"]
    if facts["bandwidths"] == [{"bytes_per_second": 1.0, "links": facts["links"]}]:
        texts = [f"{value:,.0f} links" for value in (least, most)]
    else:
        texts = [format_bandwidth(value) for value in (least, most)]
    return texts[1] if bisection["exact"] else " to ".join(texts)


if __name__ == "__main__":
    main()
