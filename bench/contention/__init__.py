# SPDX-License-Identifier: BSD-3-Clause
"""Placements that minimize the load of the busiest link."""
