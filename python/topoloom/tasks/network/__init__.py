# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the switches of a machine: latency by load, collectives in switches."""
