# SPDX-License-Identifier: BSD-3-Clause
"""Describes compute nodes: levels, CPUs, memory, devices and host names."""
