# SPDX-License-Identifier: BSD-3-Clause
"""How much less the busiest link carries when placements aim at it."""
