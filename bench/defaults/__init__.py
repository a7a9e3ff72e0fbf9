# SPDX-License-Identifier: BSD-3-Clause
"""Gains of the defaults compared with the launcher order, Scotch and hop-bytes."""
