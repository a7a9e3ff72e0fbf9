# SPDX-License-Identifier: BSD-3-Clause
"""Makes a JSON Schema for each command from the types of its documents.

``python docs/json_schemas.py COMMAND`` prints one.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import get_original_bases, is_typeddict

from topoloom.cli.json_output import name_schema
from topoloom.documents.commands import DOCUMENTS
from topoloom.placements.measures import MEASURES

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _DocumentSchema(GenerateJsonSchema):
    """Pydantic's generator, for documents with only described keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False: the title would repeat the key."""
        return False

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        """Make the schema of a dictionary; add the descriptions of its keys."""
        made = super().typed_dict_schema(schema)
        described = describe_keys(schema["cls"])
        for key, value in made["properties"].items():
            value["description"] = described[key]
        return {**made, "additionalProperties": False}


@cache
def make_schema(command: str) -> dict[str, Any]:
    """Make the schema of the documents that a command prints."""
    name = name_schema(command)
    label = {"const": name, "description": "Name and version of this schema."}
    definitions: dict[str, Any] = {}
    choices = []
    for kind in DOCUMENTS[command]:
        made = TypeAdapter(kind).json_schema(schema_generator=_DocumentSchema)
        definitions |= made.pop("$defs", {})
        made["properties"] = {"schema": label, **made["properties"]}
        made["required"] = ["schema", *made.get("required", [])]
        choices.append(made)
    root = choices[0] if len(choices) == 1 else {"anyOf": choices}
    return {
        "$schema": DIALECT,
        "$id": f"urn:{name.replace('/', ':')}",
        **root,
        **({"$defs": definitions} if definitions else {}),
    }


@cache
def describe_keys(kind: Any) -> dict[str, str]:
    """Return the description of each key: the text below it, or that of its measure."""
    found: dict[str, str] = {}
    for base in filter(is_typeddict, get_original_bases(kind)):
        found |= describe_keys(base)
    source = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(source, ast.ClassDef)
    for line, below in zip(source.body, [*source.body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            key = line.target.id
            found[key] = _read_text(below) or describe_measure(key)
    return found


def _read_text(line: ast.stmt | None) -> str:
    """Return the text of a line that is only a string; else the empty string."""
    if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant):
        return inspect.cleandoc(str(line.value.value)).replace("\n", " ")
    return ""


def describe_measure(key: str) -> str:
    """Describe a measure of placements, with its unit."""
    measure = MEASURES[key]
    title = f"{measure.title[:1].upper()}{measure.title[1:]}"
    return f"{title}: {measure.meaning} ({measure.unit.value})."


def make_tables(command: str) -> str:
    """Make the section about the documents of a command, in Markdown."""
    schema = make_schema(command)
    link = f"json/{command.replace(' ', '-')}.json"
    lines = [f"### {command}", "", f"[Schema]({link}), `{name_schema(command)}`."]
    for choice in schema.get("anyOf", [schema]):
        lines += _make_table(choice)
    for name, part in schema.get("$defs", {}).items():
        lines += [f'<a id="{_name_anchor(command, name)}"></a>']
        lines += _make_table(part, name)
    text = "\n".join(lines)
    return text.replace("#/$defs/", f"#{_name_anchor(command, '')}") + "\n"


def _name_anchor(command: str, kind: str) -> str:
    return f"{command.replace(' ', '-')}-{kind}"


def _make_table(schema: dict[str, Any], name: str = "") -> list[str]:
    title = f"**{name}**: " if name else ""
    lines = ["", title + schema["description"], ""]
    lines += ["| key | type | meaning |", "| --- | --- | --- |"]
    for key, value in schema["properties"].items():
        if key != "schema":
            mark = "" if key in schema.get("required", ()) else "*"
            kind = _format_type(value).replace("|", "\\|")
            lines.append(f"| `{key}`{mark} | {kind} | {value['description']} |")
    return [*lines, ""]


def _format_type(schema: dict[str, Any]) -> str:
    """Format the type of a value, such as `list of integer` or `number or null`."""
    if "$ref" in schema:
        return f"[{schema['$ref'].rpartition('/')[2]}]({schema['$ref']})"
    if "anyOf" in schema:
        return " or ".join(map(_format_type, schema["anyOf"]))
    if "prefixItems" in schema:
        return f"list of {', '.join(map(_format_type, schema['prefixItems']))}"
    if schema.get("type") == "array":
        return f"list of {_format_type(schema['items'])}"
    if isinstance(inner := schema.get("additionalProperties"), dict):
        return f"object of {_format_type(inner)}"
    return str(schema.get("type", "any"))


if __name__ == "__main__":
    print(json.dumps(make_schema(" ".join(sys.argv[1:])), indent=1))
