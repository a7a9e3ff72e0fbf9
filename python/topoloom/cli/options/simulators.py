# SPDX-License-Identifier: BSD-3-Clause
"""What simulates messages."""

from __future__ import annotations

SIMULATOR_HELP = (
    "What simulates: simgrid, SMPI of SimGrid (Debian's package libsimgrid-dev); or "
    "switches, our own, packet by packet."
)
