# SPDX-License-Identifier: BSD-3-Clause
"""Finds the part of a machine that slow measurements have in common."""
