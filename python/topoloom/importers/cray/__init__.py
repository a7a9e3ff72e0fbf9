# SPDX-License-Identifier: BSD-3-Clause
"""Cray: see README.md."""
