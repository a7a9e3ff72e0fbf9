# SPDX-License-Identifier: BSD-3-Clause
"""Generates a C wrapper for each MPI function with a communicator parameter.

Fortran bindings call the C functions, so they need no wrappers.
"""

from __future__ import annotations

import re

#: Functions with handwritten wrappers in ``mpi/world/special.c``, or correct with the
#: original world.
_NOT_WRAPPED = {
    "MPI_Abort",
    "MPI_Attr_get",
    "MPI_Comm_c2f",
    "MPI_Comm_get_attr",
    "MPI_Comm_set_errhandler",
    "MPI_Comm_toint",
}
_PROTOTYPE = re.compile(r"\bint\s+P(MPIX?_\w+)\s*\(([^;{}]*?)\)\s*(?=;|__attribute__)")
_COMMUNICATOR = re.compile(r"MPI_Comm\s+\w+")


def generate_wrappers(mpi_header: str) -> str:
    """Generate the C file of all wrappers from the preprocessed ``mpi.h``."""
    parts = ['#include "world.h"\n']
    for name, text in dict(_PROTOTYPE.findall(mpi_header)).items():
        parameters = [" ".join(word.split()) for word in _split_parameters(text)]
        if name in _NOT_WRAPPED or not any(map(_COMMUNICATOR.fullmatch, parameters)):
            continue
        parts += [
            _write_wrapper(name, parameters),
            _write_wrapper(f"P{name}", parameters),
        ]
    return "\n".join(parts)


def _split_parameters(text: str) -> list[str]:
    """Split at commas outside parentheses."""
    return re.split(r",(?![^()]*\))", text)


def _write_wrapper(name: str, parameters: list[str]) -> str:
    declared = ", ".join(parameters)
    arguments = ", ".join(map(_translate_argument, parameters))
    return f"""\
SHIM_EXPORT int {name}({declared}) {{
    static int (*next)({declared});
    if (next == NULL) next = (int (*)({declared}))(uintptr_t)find_next_symbol("{name}");
    return next({arguments});
}}
"""


def _translate_argument(parameter: str) -> str:
    name = re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", parameter))[-1]
    return f"replace_world({name})" if _COMMUNICATOR.fullmatch(parameter) else name
