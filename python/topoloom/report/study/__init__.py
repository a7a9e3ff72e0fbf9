# SPDX-License-Identifier: BSD-3-Clause
"""Writes the HTML page of a factorial experiment."""
