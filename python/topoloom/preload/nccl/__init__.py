# SPDX-License-Identifier: BSD-3-Clause
"""Records the traffic of programs that use NCCL or RCCL."""
