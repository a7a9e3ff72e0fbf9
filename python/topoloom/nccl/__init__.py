# SPDX-License-Identifier: BSD-3-Clause
"""NCCL's collectives: rings, trees, exchanges, messages and predicted times."""
