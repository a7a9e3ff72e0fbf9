# SPDX-License-Identifier: BSD-3-Clause
"""Readings of models whose source contradicts itself, held against what it measured."""
