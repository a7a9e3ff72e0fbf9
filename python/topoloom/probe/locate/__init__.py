# SPDX-License-Identifier: BSD-3-Clause
"""Locates bad parts of a machine: the common parts of slow measurements."""
