# SPDX-License-Identifier: BSD-3-Clause
"""Locates bad parts of a machine: parts that slow measurements have in common."""
