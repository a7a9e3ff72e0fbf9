# SPDX-License-Identifier: BSD-3-Clause
"""``python -m topoloom.mpi.library_path MPICC`` prints the path of libtopoloom-mpi.

Job scripts use this path to preload the library on nodes without click and rich.
"""

from __future__ import annotations

import sys
from pathlib import Path

from topoloom._core import Error
from topoloom.preload.mpi_library import build_reorder_library

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m topoloom.mpi.library_path MPICC")
    try:
        print(build_reorder_library(Path(sys.argv[1])))
    except Error as error:
        sys.exit(f"topoloom: {error}")
