# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidths of NVLink and xGMI between GPUs, in bytes/s of a link per direction.

Source of xGMI: AMD's data sheets, which state both directions of a link: 92 GB/s for
MI50 and MI100, 100 GB/s for MI250X, 128 GB/s for MI300X, 153.6 GB/s for MI355X.
"""

from __future__ import annotations

from topoloom.support.units import format_bandwidth
from topoloom.support.xml_tree import Element

#: Minimum compute capability -> NVLink.
_NVLINK = ((100, 50e9), (70, 25e9), (0, 20e9))
#: Architecture without the prefix gfx -> xGMI. RCCL calls gfx90a 910.
_XGMI = {
    "906": 46e9,
    "908": 46e9,
    "910": 50e9,
    "90a": 50e9,
    "940": 64e9,
    "941": 64e9,
    "942": 64e9,
    "950": 76.8e9,
}
#: Rate of xGMI where the architecture is unknown: that of MI250X.
XGMI_ASSUMED = 50e9


def find_nvlink_rate(gpu: Element) -> float:
    """Return the rate of an NVLink of a ``<gpu>`` in NCCL's topology."""
    capability = gpu.number("sm", 70)
    return next(rate for least, rate in _NVLINK if capability >= least)


def find_xgmi_rate(architecture: str) -> float | None:
    """Return the rate of an xGMI link, such as of ``gfx942``; None if unknown."""
    return _XGMI.get(architecture.lower().removeprefix("gfx"))


def describe_assumed_xgmi(gpus: int) -> str:
    """Describe an assumed rate of the xGMI links of some GPUs."""
    return (
        f"assumed: xGMI links of {format_bandwidth(XGMI_ASSUMED)} per direction, that "
        f"of MI250X, for {gpus} GPUs of unknown architecture"
    )
