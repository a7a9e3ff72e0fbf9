# SPDX-License-Identifier: BSD-3-Clause
"""Machines: see README.md."""
