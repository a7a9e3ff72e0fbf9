# SPDX-License-Identifier: BSD-3-Clause
"""Makes the commands that output suggests."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path


def insert_file_name(file: Path, command: str) -> str:
    """Replace FILE, in a shell command or a line of Python, by the quoted file name."""

    def quote_match(found: re.Match[str]) -> str:
        quote = json.dumps if found[0] == '"FILE"' else shlex.quote
        return quote(str(file))

    # The word boundary avoids a match in SLURM_HOSTFILE.
    return re.sub(r'"FILE"|\bFILE\b', quote_match, command)


#: Options of `topoloom compare` that `topoloom map` does not take or need, and whether
#: a value follows them.
_ONLY_COMPARE = {"--mappers": True, "--effort": True, "--figure": True, "--json": False}


def suggest_map(compared: Sequence[str], mapper: str) -> str:
    """Return the command that places with `mapper` what a command compared."""
    words = ["topoloom", "map"]
    rest = iter(compared[2:])
    for word in rest:
        name, equals, _ = word.partition("=")
        if name not in _ONLY_COMPARE:
            words.append(word)
        elif _ONLY_COMPARE[name] and not equals:
            next(rest, None)
    return f"{shlex.join([*words, '--mapper', mapper])} -o FILE"
