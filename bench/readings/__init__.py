# SPDX-License-Identifier: BSD-3-Clause
"""Readings of models whose source contradicts itself, compared with measurements."""
