# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of AI jobs: groups, compiled programs, NCCL, experts."""
