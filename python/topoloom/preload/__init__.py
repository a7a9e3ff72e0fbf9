# SPDX-License-Identifier: BSD-3-Clause
"""Builds libraries, and preloads them into a user's MPI and NCCL programs."""
