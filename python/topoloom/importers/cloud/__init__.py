# SPDX-License-Identifier: BSD-3-Clause
"""Clouds: see README.md."""
