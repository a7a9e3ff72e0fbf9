# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of balancers: guarantees, speed, distance of partners."""
