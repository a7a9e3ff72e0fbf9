# SPDX-License-Identifier: BSD-3-Clause
"""NCCL's collectives: rings, trees and exchanges of GPUs in nodes, and their times."""
