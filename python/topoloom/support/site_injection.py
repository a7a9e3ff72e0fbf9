# SPDX-License-Identifier: BSD-3-Clause
"""Runs a file in each Python process of a command, before the program starts.

`inject` copies this file, as ``sitecustomize.py``, and the file to run to a folder that
is first on PYTHONPATH. This file imports only the standard library.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

INJECTED = "topoloom_injected"


def inject(source: Path, folder: Path) -> dict[str, str]:
    """Copy a file to `folder`; return environment variables that make Python run it."""
    (folder / "sitecustomize.py").write_text(
        Path(__file__).read_text(encoding="utf-8"), encoding="utf-8"
    )
    (folder / f"{INJECTED}.py").write_text(
        source.read_text(encoding="utf-8"), encoding="utf-8"
    )
    found = os.environ.get("PYTHONPATH")
    paths = [str(folder.resolve()), *([found] if found else [])]
    return {"PYTHONPATH": os.pathsep.join(paths)}


def run_shadowed_sitecustomize(here: Path) -> None:
    """Run the user's sitecustomize, which this file shadows."""
    rest = [path for path in sys.path if Path(path or ".").resolve() != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module  # in case the program imports it
        spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    importlib.import_module(INJECTED)
    run_shadowed_sitecustomize(Path(__file__).resolve().parent)
