# SPDX-License-Identifier: BSD-3-Clause
"""Models NCCL's collectives: rings, trees, messages and predicted times."""
