# SPDX-License-Identifier: BSD-3-Clause
"""Importers for InfiniBand fabrics."""
