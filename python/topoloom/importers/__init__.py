# SPDX-License-Identifier: BSD-3-Clause
"""Importers: see README.md."""
