# SPDX-License-Identifier: BSD-3-Clause
"""Gains of the defaults over the launcher order, Scotch and hop-bytes."""
