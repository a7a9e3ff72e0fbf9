# SPDX-License-Identifier: BSD-3-Clause
"""Launchers: placements in their files' words, and command lines that apply them."""
