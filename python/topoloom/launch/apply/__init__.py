# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands with placements, and checks where the ranks start."""
