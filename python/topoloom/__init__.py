# SPDX-License-Identifier: BSD-3-Clause
"""Topoloom places the ranks of parallel programs on the nodes and cores of a machine.

Typical steps: load a communication graph (`load_graph`, `graphs.stencil`, ...), a
machine (`load_machine`) and an allocation (`load_allocation`, or the whole machine).
Then call `place`, evaluate with `judge`, and write the result with `save_placement`.

Other functions are in `allocations`, `figure`, `graphs`, `machines`, `model`,
`placements`, `schedules` and `tasks`. Each package's ``__init__.pyi`` lists the public
names, which are loaded on first use, so that importing the package is fast.
"""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
