# SPDX-License-Identifier: BSD-3-Clause
"""Generates the recorder's C and Fortran wrappers from ``mpi/record/calls.txt``.

Only calls that the user's ``mpi.h`` declares get a wrapper. One table therefore
supports MPI 3.0 to 4.x, and also calls newer than the version that ``mpi.h`` declares:
Open MPI 5 declares MPI 3.1, but has persistent collectives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_COUNTS = {"count", "sendcount", "recvcount", "target_count"}
_COUNT_ARRAYS = {"sendcounts", "recvcounts"}
_DISPLACEMENTS = {"displs", "sdispls", "rdispls"}
_BUFFERS = {"sendbuf", "compare", "recvbuf"}
_HANDLES = {
    **dict.fromkeys(("type", "sendtype", "recvtype", "target_type"), "Datatype"),
    "comm": "Comm",
    "win": "Win",
    "op": "Op",
    "info": "Info",
    "group": "Group",
}
_OTHER_TYPES = {
    "sendbuf": "const void *",
    "compare": "const void *",
    "recvbuf": "void *",
    "large_count": "MPI_Count ",
    "target_disp": "MPI_Aint ",
    "request": "MPI_Request *",
    "status": "MPI_Status *",
    "large_sdispls": "const MPI_Aint *",
    "large_rdispls": "const MPI_Aint *",
    "sendtypes": "const MPI_Datatype *",
    "recvtypes": "const MPI_Datatype *",
    "requests": "MPI_Request *",
    "statuses": "MPI_Status *",
    "message": "MPI_Message *",
    "new_comm": "MPI_Comm *",
    "flag": "int *",
    "index": "int *",
    "indices": "int *",
    "completed": "int *",
}
#: Prefix of a wrapped C name -> C call that the wrapper makes first; MPI libraries call
#: PMPI names.
_PREFIXES = {"MPI_": "enter_call()", "PMPI_": "enter_pmpi_call(CALLER)"}


class MpiProcedure(NamedTuple):
    """An MPI procedure to wrap.

    `record_call` is a C call that records it; empty if the procedure is only timed.
    """

    name: str
    parameters: list[str]
    record_call: str
    persistent: bool


def generate_wrappers(table: str, mpi_header: str) -> str:
    """Generate the C file of all wrappers.

    `table` is the text of ``calls.txt``, `mpi_header` the preprocessed ``mpi.h``.
    """
    declared = set(re.findall(r"\bPMPI_(\w+)\s*\(", mpi_header))
    parts = ['#include "record.h"\n']
    for call in _read_calls(table):
        if call.name in declared:
            parts.extend(
                _write_c_wrapper(call, prefix, large=False) for prefix in _PREFIXES
            )
            parts.extend(
                _write_fortran_wrapper(call, suffix) for suffix in ("_", "_f08_")
            )
        if f"{call.name}_c" in declared:
            parts.extend(
                _write_c_wrapper(call, prefix, large=True) for prefix in _PREFIXES
            )
    return "\n".join(parts)


def _read_calls(table: str) -> Iterator[MpiProcedure]:
    section = ""
    for line in table.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        match = re.fullmatch(r"(\w+)\(([^)]*)\)(?:\s+(\w+\(.*\)))?", line)
        assert match is not None, line
        name, inside, recorded = match.groups()
        parameters = inside.split(", ")
        record_call = f"record_{recorded}" if recorded else ""
        yield MpiProcedure(name, parameters, record_call, section == "persistent")
        if section == "collective":
            with_request = [*parameters, "request"]
            yield MpiProcedure(
                f"I{_decapitalize(name)}", with_request, record_call, False
            )
            with_info = [*parameters, "info", "request"]
            yield MpiProcedure(f"{name}_init", with_info, record_call, True)


def _decapitalize(name: str) -> str:
    return name[0].lower() + name[1:]


def _c_type(name: str, large: bool) -> str:
    if name in _COUNTS:
        return "MPI_Count " if large else "int "
    if name in _COUNT_ARRAYS:
        return "const MPI_Count *" if large else "const int *"
    if name in _DISPLACEMENTS:
        return "const MPI_Aint *" if large else "const int *"
    if name in _HANDLES:
        return f"MPI_{_HANDLES[name]} "
    return _OTHER_TYPES.get(name, "int ")


def _fortran_type(name: str) -> str:
    if name in _BUFFERS:
        return "void *"
    if name == "large_count":
        return "MPI_Count *"
    if name in ("target_disp", "large_sdispls", "large_rdispls"):
        return "MPI_Aint *"
    return "MPI_Fint *"


def _c_argument(name: str, large: bool) -> str:
    if name in _COUNT_ARRAYS:
        return f"{'large' if large else 'int'}_counts({name})"
    return f"c_types({name})" if name in ("sendtypes", "recvtypes") else name


def _fortran_argument(name: str) -> str:
    if name in _COUNT_ARRAYS:
        return f"fortran_counts({name})"
    if name in ("sendtypes", "recvtypes"):
        return f"fortran_types({name})"
    if name in _HANDLES:
        return f"MPI_{_HANDLES[name].removeprefix('Data').capitalize()}_f2c(*{name})"
    return name if name in _BUFFERS else f"*{name}"


def _write_record_call(
    call: MpiProcedure, argument: Callable[[str], str], request: str, status: str
) -> str:
    """Write the statement that records a call, given its arguments and its status."""
    if not call.record_call:
        return ""
    function, _, inside = call.record_call.partition("(")
    words = inside.rstrip(")").split(", ")
    arguments = [argument(word) if word in call.parameters else word for word in words]
    record_call = f"{function}({', '.join(arguments)});"
    if call.persistent:
        end = f"end_persistent_init({request});"
        record_call = f"begin_persistent_init();\n        {record_call}\n        {end}"
    return f"""
    if (lock_if_recorded(&scope, {status})) {{
        {record_call}
        unlock_recording();
    }}"""


def _write_c_wrapper(call: MpiProcedure, prefix: str, large: bool) -> str:
    name = prefix + call.name + ("_c" if large else "")
    types = [_c_type(p, large) for p in call.parameters]
    declared = ", ".join(map("".join, zip(types, call.parameters, strict=True)))
    record_call = _write_record_call(
        call, lambda word: _c_argument(word, large), "*request", "result"
    )
    return f"""\
SHIM_EXPORT int {name}({declared}) {{
    NEXT({name}, int (*)({", ".join(types)}));
    ENTER_CALL({_PREFIXES[prefix]});
    const int result = next({", ".join(call.parameters)});{record_call}
    return result;
}}
"""


def _write_fortran_wrapper(call: MpiProcedure, suffix: str) -> str:
    """Pointers are forwarded unchanged, because they can be Fortran's MPI_BOTTOM."""
    name = f"mpi_{call.name.lower()}{suffix}"
    types = [_fortran_type(p) for p in call.parameters] + ["MPI_Fint *"]
    parameters = [*call.parameters, "error"]
    declared = ", ".join(f"{t}{p}" for t, p in zip(types, parameters, strict=True))
    record_call = _write_record_call(
        call, _fortran_argument, "MPI_Request_f2c(*request)", "fortran_status(error)"
    )
    signature = ", ".join(types)
    return f"""\
SHIM_EXPORT void {name}({declared}) {{
    NEXT({name}, void (*)({signature}));
    ENTER_CALL(enter_call());
    next({", ".join(parameters)});{record_call}
}}
"""
