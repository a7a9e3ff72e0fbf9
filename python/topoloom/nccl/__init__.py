# SPDX-License-Identifier: BSD-3-Clause
"""NCCL's collectives: their rings, trees and exchanges, messages and times."""
