# SPDX-License-Identifier: BSD-3-Clause
"""A nested package of PyTorch."""
