# SPDX-License-Identifier: BSD-3-Clause
"""The documents that each command prints with ``--json``."""

from __future__ import annotations

from typing import Any

from topoloom.documents.ai import (
    AxesDocument,
    ExpertsDocument,
    LayoutsDocument,
    MeshDocument,
    SparesDocument,
)
from topoloom.documents.allocations import AllocateDocument
from topoloom.documents.balancing import BalanceDocument, BalanceTasksDocument
from topoloom.documents.catalog import HelpDocument, ListDocument, TopicsDocument
from topoloom.documents.collectives import (
    CollectiveDocument,
    ContentionDocument,
    GridDocument,
    MeasureDocument,
    OrderDocument,
    TilesDocument,
    TreesDocument,
)
from topoloom.documents.machines import (
    MachineDocument,
    MachineDrawDocument,
    MachineExportDocument,
    SweepDocument,
)
from topoloom.documents.models import (
    ChannelCurve,
    ChannelPatterns,
    ModelFitDocument,
    ModelPredictDocument,
    ModelShowDocument,
)
from topoloom.documents.patterns import PatternDocument, PatternShowDocument
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
from topoloom.documents.probes import CheckDocument, LocateDocument, ProbeDocument
from topoloom.documents.programs import (
    ExportDocument,
    RecordDocument,
    ReorderDocument,
    RunDocument,
    UnplacedRunDocument,
    VerifyDocument,
    VerifyTorchDocument,
)
from topoloom.documents.ring_buses import BladeDocument, RingBusDocument
from topoloom.documents.runs import (
    ListedRunsDocument,
    PrunedRunsDocument,
    RunSummaryDocument,
    ShownRunDocument,
    TrialDocument,
)
from topoloom.documents.studies import StudyDocument

#: The types of a command's documents; several if its arguments decide.
DOCUMENTS: dict[str, tuple[Any, ...]] = {
    "run": (RunDocument, UnplacedRunDocument, ReorderDocument),
    "runs": (
        ListedRunsDocument,
        ShownRunDocument,
        RunSummaryDocument,
        PrunedRunsDocument,
    ),
    "study": (StudyDocument,),
    "trial": (TrialDocument,),
    "record": (RecordDocument,),
    "map": (MapDocument,),
    "compare": (CompareDocument,),
    "judge": (JudgeDocument,),
    "report": (ReportDocument, PageDocument),
    "export": (ExportDocument,),
    "verify": (VerifyDocument, VerifyTorchDocument),
    "pattern generate": (PatternDocument,),
    "pattern import": (PatternDocument,),
    "pattern show": (PatternShowDocument,),
    "machine show": (MachineDocument,),
    "machine detect": (MachineDocument,),
    "machine import": (MachineDocument,),
    "machine export": (MachineExportDocument,),
    "machine draw": (MachineDrawDocument,),
    "machine probe": (ProbeDocument,),
    "machine check": (CheckDocument, LocateDocument),
    "machine sweep": (SweepDocument,),
    "model show": (ModelShowDocument,),
    "model predict": (ModelPredictDocument,),
    "model fit": (ModelFitDocument,),
    "model channels": (ChannelCurve, ChannelPatterns),
    "allocate": (AllocateDocument,),
    "bound": (BoundDocument,),
    "simulate": (SimulateDocument,),
    "joint": (JointDocument,),
    "collective rank": (CollectiveDocument,),
    "collective measure": (MeasureDocument,),
    "collective export": (CollectiveDocument,),
    "collective simulate": (CollectiveDocument,),
    "collective place": (CollectiveDocument,),
    "collective contention": (ContentionDocument,),
    "collective trees": (TreesDocument,),
    "collective order": (OrderDocument,),
    "collective grid": (GridDocument, TilesDocument),
    "ai axes": (AxesDocument, MeshDocument),
    "ai experts": (ExpertsDocument,),
    "ai layouts": (LayoutsDocument,),
    "ai spares": (SparesDocument,),
    "balance": (BalanceDocument, BalanceTasksDocument),
    "ring-bus": (RingBusDocument, BladeDocument),
    "help": (HelpDocument, TopicsDocument),
    "demo": (DemoDocument,),
    "list": (ListDocument,),
}
