# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine probe` on known machines: random ones in SimGrid, and published ones."""
