# SPDX-License-Identifier: BSD-3-Clause
"""Builds, preloads and runs libraries in a user's MPI and NCCL programs."""
