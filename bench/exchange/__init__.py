# SPDX-License-Identifier: BSD-3-Clause
"""Sparse exchanges: how long each algorithm takes, simulated, and whether any hangs."""
