# SPDX-License-Identifier: BSD-3-Clause
"""Simulated scatters on communicators in several orders, on nodes of two groups."""
