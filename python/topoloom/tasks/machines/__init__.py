# SPDX-License-Identifier: BSD-3-Clause
"""What `topoloom probe` and `topoloom allocate` do."""
