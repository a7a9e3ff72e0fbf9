# SPDX-License-Identifier: BSD-3-Clause
"""Placements: see README.md."""
