# SPDX-License-Identifier: BSD-3-Clause
"""Writes an HTML page about a factorial experiment."""
