# SPDX-License-Identifier: BSD-3-Clause
"""Machines found out: from files that other programs write, and from the system."""
