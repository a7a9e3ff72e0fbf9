# SPDX-License-Identifier: BSD-3-Clause
"""Nodes: see README.md."""
