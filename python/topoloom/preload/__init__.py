# SPDX-License-Identifier: BSD-3-Clause
"""Preload: see README.md."""
