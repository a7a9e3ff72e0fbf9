# SPDX-License-Identifier: BSD-3-Clause
"""Process grids on nodes: what leaves them, beside other ways of blocking."""
