# SPDX-License-Identifier: BSD-3-Clause
"""The file formats Topoloom reads and writes, one module each."""
