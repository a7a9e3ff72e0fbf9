# SPDX-License-Identifier: BSD-3-Clause
"""Importers for Slurm's topologies, nodes and jobs."""
