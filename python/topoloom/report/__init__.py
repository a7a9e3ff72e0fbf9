# SPDX-License-Identifier: BSD-3-Clause
"""Writes an HTML page about placements: gains, traffic and link loads."""
