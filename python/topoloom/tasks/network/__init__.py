# SPDX-License-Identifier: BSD-3-Clause
"""Simulated switches of a machine: loads, latencies, collectives in switches."""
