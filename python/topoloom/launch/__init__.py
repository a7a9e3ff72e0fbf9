# SPDX-License-Identifier: BSD-3-Clause
"""Launchers: files of placements, and command lines that apply them."""
