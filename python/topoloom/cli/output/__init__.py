# SPDX-License-Identifier: BSD-3-Clause
"""Prints the results of commands."""
