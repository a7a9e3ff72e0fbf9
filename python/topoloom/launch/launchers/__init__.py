# SPDX-License-Identifier: BSD-3-Clause
"""Launcher modules, each of which applies placements with one launcher."""
