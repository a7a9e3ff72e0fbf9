# SPDX-License-Identifier: BSD-3-Clause
"""Spread of groups: see README.md."""
