# SPDX-License-Identifier: BSD-3-Clause
"""Measured machines and chosen nodes, for `topoloom probe` and `allocate`."""
