# SPDX-License-Identifier: BSD-3-Clause
"""Computes redistributions of tasks for `topoloom balance`."""
