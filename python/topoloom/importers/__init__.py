# SPDX-License-Identifier: BSD-3-Clause
"""Importers: read machine descriptions from other programs and systems."""
