# SPDX-License-Identifier: BSD-3-Clause
"""Measures machines and chooses nodes, for `topoloom machine probe` and `allocate`."""
