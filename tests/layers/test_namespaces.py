# SPDX-License-Identifier: BSD-3-Clause
"""Names that only one core module uses are in the namespace of that module.

The namespace `topoloom` itself has the names that several modules, bindings or tests
use.
"""

from __future__ import annotations

import re
from pathlib import Path

CORE = Path(__file__).resolve().parents[2] / "core" / "topoloom"
HEADERS = sorted(CORE.rglob("*.hpp"))
OPENED = re.compile(r"^namespace (\w[\w:]*) \{", re.MULTILINE)

#: Modules with a namespace, and modules of place/ without one.
NAMED = ("partition", "qap", "bound")
SHARED = ("place", "place/state")
#: Headers of these modules that declare names for other modules.
VOCABULARY = (
    "bound/bound_problem.hpp",
    "bound/bus_affinity.hpp",
    "bound/congestion_bound.hpp",
    "bound/hop_bytes_bound.hpp",
    "bound/time_bound.hpp",
    "bound/network_graph.hpp",
    "place/near/near_lists.hpp",
    "place/portfolio/objective_choice.hpp",
)


def get_expected_namespace(header: str) -> str:
    """Return the namespace in which a header must declare its names."""
    folder = Path(header).parent
    top = folder.parts[0]
    if header not in VOCABULARY:
        if top in NAMED:
            return f"topoloom::{top}"
        if top == "place" and str(folder) not in SHARED:
            return f"topoloom::{folder.name}"
    return "topoloom"


def test_headers_declare_in_the_namespace_of_their_module() -> None:
    wrong = []
    for path in HEADERS:
        name = str(path.relative_to(CORE))
        opened = set(OPENED.findall(path.read_text()))
        if opened - {get_expected_namespace(name)}:
            wrong.append(f"{name}: {', '.join(sorted(opened))}")
    assert not wrong


def test_the_headers_with_shared_names_exist() -> None:
    assert not [name for name in VOCABULARY if not (CORE / name).is_file()]


def test_modules_have_the_namespaces_of_their_names() -> None:
    assert get_expected_namespace("place/grid/fold.hpp") == "topoloom::grid"
    assert get_expected_namespace("qap/exact/branch_and_bound.hpp") == "topoloom::qap"
    assert get_expected_namespace("bound/transport.hpp") == "topoloom::bound"
    assert get_expected_namespace("bound/network_graph.hpp") == "topoloom"
    assert get_expected_namespace("place/problem.hpp") == "topoloom"
