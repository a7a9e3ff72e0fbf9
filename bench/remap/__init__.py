# SPDX-License-Identifier: BSD-3-Clause
"""Scatters on communicators in several orders, on nodes of two groups, simulated."""
