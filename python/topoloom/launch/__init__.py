# SPDX-License-Identifier: BSD-3-Clause
"""Launchers: the placement files and command lines that apply placements."""
