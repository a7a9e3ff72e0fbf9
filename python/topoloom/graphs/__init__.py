# SPDX-License-Identifier: BSD-3-Clause
"""Graphs: see README.md."""
