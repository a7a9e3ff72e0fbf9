# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine probe` on known machines: random in SimGrid, and published."""
