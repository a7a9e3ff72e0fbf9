#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail if a C or C++ function exceeds 60 lines or complexity 12.

Complexity counts branches as ruff's C901 does: ``&&``, ``||`` and ``?:`` are free.
Tables may be long: functions without a branch, and those of ``bindings/``.
"""

from __future__ import annotations

import subprocess
import sys

import lizard
from lizard_languages.clike import CLikeReader

FOLDERS = ["core", "mpi", "nccl", "bindings", "apps"]
MAX_LINES = 60
MAX_COMPLEXITY = 12


def main() -> int:
    """Print each function that exceeds a limit; return 1 if there is one."""
    CLikeReader._logical_operators = set()
    CLikeReader._ternary_operators = set()
    listed = subprocess.check_output(["git", "ls-files", *FOLDERS], text=True)
    files = [f for f in listed.split() if f.endswith((".c", ".h", ".cpp", ".hpp"))]
    found = [
        f"{info.filename}:{function.start_line}: {function.name}: "
        f"{function.length} lines, complexity {function.cyclomatic_complexity}"
        for info in lizard.analyze_files(files)
        for function in info.function_list
        if _is_too_large(info.filename, function)
    ]
    for line in found:
        print(line)
    if found:
        print(
            f"check_functions: at most {MAX_LINES} lines and complexity "
            f"{MAX_COMPLEXITY} are allowed; split these functions"
        )
    return bool(found)


def _is_too_large(path: str, function: lizard.FunctionInfo) -> bool:
    if function.cyclomatic_complexity > MAX_COMPLEXITY:
        return True
    is_table = path.startswith("bindings/") or function.cyclomatic_complexity == 1
    return function.length > MAX_LINES and not is_table


if __name__ == "__main__":
    sys.exit(main())
