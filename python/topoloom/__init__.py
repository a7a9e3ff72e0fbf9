# SPDX-License-Identifier: BSD-3-Clause
"""Topoloom puts every rank of a parallel program on the right core of the right node.

The usual steps: get a communication graph (`load_graph`, `graphs.stencil`,
...), a machine (`load_machine`) and an allocation (`load_allocation`, or all of the
machine), call `place`, look at `judge`, write the result with `save_placement`.

The rest is in `allocations`, `figure`, `graphs`, `machines`, `model`, `placements`,
`schedules` and `tasks`. Names are listed in each package's ``__init__.pyi``, and loaded
on first use, so that importing the package costs nothing.
"""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
