# SPDX-License-Identifier: BSD-3-Clause
"""Frameworks that train: the groups that they make of ranks, and what models send."""
