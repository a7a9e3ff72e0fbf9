# SPDX-License-Identifier: BSD-3-Clause
"""Exports: see README.md."""
