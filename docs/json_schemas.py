# SPDX-License-Identifier: BSD-3-Clause
"""Makes a JSON Schema for each command from the types of its documents."""

from __future__ import annotations

import ast
import inspect
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
