# SPDX-License-Identifier: BSD-3-Clause
"""How well objectives order placements by simulated time."""
