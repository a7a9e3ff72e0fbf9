# SPDX-License-Identifier: BSD-3-Clause
"""Each command has a JSON Schema for its documents, and a table in the docs."""

from __future__ import annotations

import json

import pytest
from json_documents import check_document, find_validator
from json_schemas import DIALECT, make_schema, make_tables
from jsonschema import Draft202012Validator

from topoloom.cli.app import command_names
from topoloom.cli.json_output import VERSIONS, name_schema
from topoloom.documents.commands import DOCUMENTS


def test_every_command_has_documents() -> None:
    assert set(DOCUMENTS) == set(command_names())
    assert set(VERSIONS) <= set(DOCUMENTS)


@pytest.mark.parametrize("command", DOCUMENTS)
def test_every_schema_is_valid_and_every_key_is_described(command: str) -> None:
    schema = make_schema(command)
    assert schema["$schema"] == DIALECT
    Draft202012Validator.check_schema(schema)
    kinds = [*schema.get("anyOf", [schema]), *schema.get("$defs", {}).values()]
    for kind in kinds:
        assert kind["description"].endswith(".")
        assert kind["additionalProperties"] is False
        for key, value in kind["properties"].items():
            assert value["description"].endswith("."), key
    assert f"`{name_schema(command)}`" in make_tables(command)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"models": [], "mine": 1}, "'mine' was unexpected"),
        ({"injections": [{"name": "on-off"}]}, r"\$.injections\[0\]: 'summary' is"),
        ({"injections": "on-off"}, r"\$.injections: 'on-off' is not of type 'array'"),
    ],
)
def test_an_undescribed_document_is_refused(document: object, message: str) -> None:
    assert isinstance(document, dict)
    named = {"schema": name_schema("list"), **document}
    with pytest.raises(AssertionError, match=message):
        check_document(json.dumps(named))
    assert not find_validator(name_schema("list")).is_valid(document)
