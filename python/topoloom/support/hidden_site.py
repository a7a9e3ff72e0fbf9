# SPDX-License-Identifier: BSD-3-Clause
"""Runs a module in each Python process of a command before the program.

This file is copied as ``sitecustomize.py`` into the first directory of PYTHONPATH,
beside the module. It imports only Python's library.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

INJECTED = "topoloom_injected"


def inject(source: Path, folder: Path) -> dict[str, str]:
    """Copy a module to `folder`; return the environment that makes Python run it."""
    (folder / "sitecustomize.py").write_text(Path(__file__).read_text())
    (folder / f"{INJECTED}.py").write_text(source.read_text())
    found = os.environ.get("PYTHONPATH")
    paths = [str(folder.resolve()), *([found] if found else [])]
    return {"PYTHONPATH": os.pathsep.join(paths)}


def load_next(here: Path) -> None:
    """Run the next sitecustomize of the path."""
    rest = [path for path in sys.path if Path(path or ".").resolve() != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module  # for programs that import it
        spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    importlib.import_module(INJECTED)
    load_next(Path(__file__).resolve().parent)
