# SPDX-License-Identifier: BSD-3-Clause
"""Process grids on nodes: inter-node bytes of several mappers."""
