# SPDX-License-Identifier: BSD-3-Clause
"""Launchers: placement files, and command lines that apply placements."""
