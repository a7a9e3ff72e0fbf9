# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of PyTorch, recorded."""
