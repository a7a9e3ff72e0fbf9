# SPDX-License-Identifier: BSD-3-Clause
"""Compute nodes: levels, CPUs, memory, devices and host names."""
