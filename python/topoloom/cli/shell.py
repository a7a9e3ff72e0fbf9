# SPDX-License-Identifier: BSD-3-Clause
"""Commands that we suggest, with the name of the file that they are about."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path


def naming_file(file: Path, how: str) -> str:
    """Put a file's name into a command for a shell, or a line of Python."""

    def name(found: re.Match[str]) -> str:
        quote = json.dumps if found[0] == '"FILE"' else shlex.quote
        return quote(str(file))

    # Not the end of SLURM_HOSTFILE.
    return re.sub(r'"FILE"|\bFILE\b', name, how)
