# SPDX-License-Identifier: BSD-3-Clause
"""Communication graphs, for the commands of `topoloom pattern`."""
