# SPDX-License-Identifier: BSD-3-Clause
"""Launcher modules: each applies placements with one launcher."""
