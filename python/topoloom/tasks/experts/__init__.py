# SPDX-License-Identifier: BSD-3-Clause
"""Places experts on GPUs for `topoloom ai experts`."""
