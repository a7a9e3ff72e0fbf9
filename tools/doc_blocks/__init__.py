# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands in the documentation and compares what they print."""
