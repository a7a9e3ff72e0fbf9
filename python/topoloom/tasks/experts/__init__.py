# SPDX-License-Identifier: BSD-3-Clause
"""What `topoloom experts` does."""
