# SPDX-License-Identifier: BSD-3-Clause
"""Empty package of the PyTorch stub."""
