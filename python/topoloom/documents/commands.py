# SPDX-License-Identifier: BSD-3-Clause
"""The documents that each command prints with ``--json``."""

from __future__ import annotations

from typing import Any

from topoloom.documents.ai import AxesDocument, ExpertsDocument, MeshDocument
from topoloom.documents.allocations import AllocateDocument
from topoloom.documents.balancing import BalanceDocument, BalanceTasksDocument
from topoloom.documents.catalog import ListDocument
from topoloom.documents.placements import (
    BoundDocument,
    CompareDocument,
    DemoDocument,
    JointDocument,
    JudgeDocument,
    MapDocument,
    PageDocument,
    ReportDocument,
    SimulateDocument,
)
from topoloom.documents.programs import (
    ExportDocument,
    RecordDocument,
    RunDocument,
    VerifyDocument,
    VerifyTorchDocument,
)

#: The types of a command's documents; several if its arguments decide.
DOCUMENTS: dict[str, tuple[Any, ...]] = {
    "run": (RunDocument,),
    "record": (RecordDocument,),
    "map": (MapDocument,),
    "compare": (CompareDocument,),
    "judge": (JudgeDocument,),
    "report": (ReportDocument, PageDocument),
    "export": (ExportDocument,),
    "verify": (VerifyDocument, VerifyTorchDocument),
    "allocate": (AllocateDocument,),
    "bound": (BoundDocument,),
    "simulate": (SimulateDocument,),
    "joint": (JointDocument,),
    "balance": (BalanceDocument, BalanceTasksDocument),
    "ai axes": (AxesDocument, MeshDocument),
    "ai experts": (ExpertsDocument,),
    "demo": (DemoDocument,),
    "list": (ListDocument,),
}
