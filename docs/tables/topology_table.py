# SPDX-License-Identifier: BSD-3-Clause
"""Writes the page of topologies: what each kind is, and its options.

Usage: ``python docs/tables/topology_table.py > docs/reference/topologies.md``. A test
holds the page to what this prints.
"""

from __future__ import annotations

from topoloom.machines.topology_forms import OptionForm, SectionForm, section_forms

HEAD = """# Topologies

All topologies and options of the short text; [describe a
machine](../how-to/machines/describe-a-machine.md) explains them. In TOML, body and
options are keys of `[topology]`. `python docs/tables/topology_table.py` writes this.

| text | what | body | example |
| --- | --- | --- | --- |"""

OPTIONS = """
## Options

Bandwidths and times have units; the bandwidth of one axis, direction or class of links
may also be `half`, `double` or `quarter` of the default.

| option | value | meaning |
| --- | --- | --- |"""

#: form -> a value
VALUES = {
    "count": "`4`",
    "number": "`0`",
    "counts": "`1:4:4`",
    "distances": "`0:3`",
    "axis_flags": "`110`",
    "axis_order": "`2:0:1`",
    "axis_shifts": "`0:0:4`",
    "route": "`0>2>1`",
    "table": "`8:2ab-`",
    "quantity": "for all links",
    "level_quantities": "for all links, or by level: `A:B:C`",
    "axis_quantities": "for all links, or by axis: `.y`",
    "direction_quantities": "for all links, by axis: `.y`, or by direction: `.y-`",
}


def main() -> None:
    """Print the page as Markdown."""
    forms = section_forms().values()
    print(HEAD)
    for form in forms:
        body = f"`{form.body}`" if form.body else ""
        if form.separator:
            body += f", separated by `{form.separator}`"
        print(f"| `{form.name}` | {form.summary} | {body} | `{form.example}` |")
    print(OPTIONS)
    for form in forms:
        for option in form.options:
            print(row(form, option))


def row(form: SectionForm, option: OptionForm) -> str:
    """Write the line of one option."""
    words = ", ".join(f"`{word}`" for word in option.words)
    name, value = option.name, VALUES.get(option.form, words)
    if option.form == "axis_shifts":
        name += ".AXIS"
    if option.form == "class_quantities":
        value = f"for all links, or by class: {words.replace('`', '`.', 1)}"
        value = value.replace(", `", ", `.")
    if form.name == "+node" and option.form == "quantity":
        value = "with its unit"
    return f"| `{form.name}` `{name}` | {value} | {option.help} |"


if __name__ == "__main__":
    main()
