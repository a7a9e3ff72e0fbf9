# SPDX-License-Identifier: BSD-3-Clause
"""Names of the formats of traces; `graphs/traces/trace_formats.py` reads them."""

from __future__ import annotations

#: format name -> description
TRACE_NAMES = {
    "hlo": "HLO text of XLA: a compiled program",
    "flight-recorder": "dumps of PyTorch's flight recorder, a file per rank",
    "kineto": "traces of PyTorch's profiler, a file per rank",
    "nccl-inspector": "lines of NCCL's or RCCL's Inspector",
    "otf2": "OTF2 archives of Score-P; give traces.otf2",
    "paraver": "Paraver traces of Extrae, .prv",
    "dumpi": "text of SST's dumpi2ascii, a file per rank",
    "simgrid-ti": "time-independent traces of SimGrid (smpirun -trace-ti)",
    "paje": "Pajé traces with messages, as of SimGrid (smpirun -trace)",
    "ipm": "XML of IPM 2 with IPM_LOG=full",
    "chakra": "Chakra execution traces, NAME.RANK.et, and groups",
}
