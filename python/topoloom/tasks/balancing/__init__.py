# SPDX-License-Identifier: BSD-3-Clause
"""Redistribution of tasks, for `topoloom balance`."""
