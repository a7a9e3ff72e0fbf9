# SPDX-License-Identifier: BSD-3-Clause
"""Rank correlation of objectives with simulated times of placements."""
