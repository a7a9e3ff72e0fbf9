# SPDX-License-Identifier: BSD-3-Clause
"""Infers groups, network, costs and slow parts from the samples of a probe."""
