# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom probe` on machines that are known: drawn for SimGrid, and published."""
