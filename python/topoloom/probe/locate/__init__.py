# SPDX-License-Identifier: BSD-3-Clause
"""Locates the parts of a machine that slow measurements have in common."""
