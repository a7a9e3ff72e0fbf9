# SPDX-License-Identifier: BSD-3-Clause
"""Importers for Cray and HPE Cray systems."""
