# SPDX-License-Identifier: BSD-3-Clause
"""Sparse exchanges: simulated times of each algorithm."""
