# SPDX-License-Identifier: BSD-3-Clause
"""Slurm: see README.md."""
