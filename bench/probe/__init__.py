# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom probe` on known machines: random ones in SimGrid, and published ones."""
