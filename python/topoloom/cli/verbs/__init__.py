# SPDX-License-Identifier: BSD-3-Clause
"""Verbs: see README.md."""
