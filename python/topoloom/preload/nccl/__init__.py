# SPDX-License-Identifier: BSD-3-Clause
"""Records what programs send by NCCL or RCCL."""
