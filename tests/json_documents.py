# SPDX-License-Identifier: BSD-3-Clause
"""Validates the JSON documents that commands print."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from json_schemas import make_schema
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from topoloom.cli.json_output import name_schema
from topoloom.documents.commands import DOCUMENTS


def check_document(text: str) -> Any:
    """Read a JSON document, validate it, and remove the name of its schema."""
    document = json.loads(text)
    errors = find_validator(document["schema"]).iter_errors(document)
    if error := best_match(errors):
        raise AssertionError(f"{error.json_path}: {error.message}")
    del document["schema"]
    return document


@cache
def find_validator(schema: str) -> Draft202012Validator:
    """Compile the schema with this name, such as ``topoloom/machine-show/1``."""
    (command,) = (each for each in DOCUMENTS if name_schema(each) == schema)
    return Draft202012Validator(make_schema(command))
