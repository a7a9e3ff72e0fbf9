# SPDX-License-Identifier: BSD-3-Clause
"""Allocations: see README.md."""
