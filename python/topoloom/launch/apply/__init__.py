# SPDX-License-Identifier: BSD-3-Clause
"""Applies placements: trial runs, launchers' job maps, and PyTorch ranks."""
