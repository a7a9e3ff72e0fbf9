# SPDX-License-Identifier: BSD-3-Clause
"""Inserts the name of the file just written into a suggested command."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path


def insert_file_name(file: Path, command: str) -> str:
    """Replace FILE, in a shell command or a line of Python, by the quoted file name."""

    def quote_match(found: re.Match[str]) -> str:
        quote = json.dumps if found[0] == '"FILE"' else shlex.quote
        return quote(str(file))

    # The word boundary avoids a match in SLURM_HOSTFILE.
    return re.sub(r'"FILE"|\bFILE\b', quote_match, command)
