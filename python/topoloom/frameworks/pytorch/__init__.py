# SPDX-License-Identifier: BSD-3-Clause
"""Records the communication of PyTorch jobs."""
