# SPDX-License-Identifier: BSD-3-Clause
"""Import numpy without starting OpenBLAS threads, which spin until they get work.

Starting these threads costs as much CPU time as the rest of ``import numpy``: 60 ms on
two cores, and more on nodes with many cores.
"""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

VARIABLE = "OPENBLAS_NUM_THREADS"


class SingleThreadedNumpy(MetaPathFinder):
    """Sets `VARIABLE` only while numpy is imported: child processes must not see it."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        """Find numpy and wrap its loader; leave other modules to the next finder."""
        if name != "numpy":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None or spec.loader is None or VARIABLE in os.environ:
            return spec
        run_module = spec.loader.exec_module

        def run_with_one_thread(module: ModuleType) -> None:
            os.environ[VARIABLE] = "1"
            try:
                run_module(module)
            finally:
                del os.environ[VARIABLE]

        spec.loader.exec_module = run_with_one_thread  # type: ignore[method-assign]
        return spec


def import_numpy_single_threaded() -> None:
    """Make this process import numpy, whenever it does, without starting threads."""
    if "numpy" not in sys.modules:
        sys.meta_path.insert(0, SingleThreadedNumpy())
