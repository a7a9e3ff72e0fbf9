# SPDX-License-Identifier: BSD-3-Clause
"""A hook of MkDocs: adds the JSON Schemas, and tables of all documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parents[1]))

from json_schemas import DOCUMENTS, make_schema, make_tables

PAGE = "reference/json.md"


def on_files(files: Any, config: Any) -> Any:
    """Add the schema of each command as a file of the site."""
    for command in DOCUMENTS:
        name = f"reference/json/{command.replace(' ', '-')}.json"
        text = json.dumps(make_schema(command), indent=1)
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Append the tables of the documents to their page."""
    if page.file.src_uri != PAGE:
        return markdown
    tables = "\n".join(make_tables(command) for command in DOCUMENTS)
    return f"{markdown}\n{tables}"
