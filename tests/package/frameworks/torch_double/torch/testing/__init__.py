# SPDX-License-Identifier: BSD-3-Clause
"""As PyTorch's rooms are nested."""
