# SPDX-License-Identifier: BSD-3-Clause
"""Functions behind `topoloom run` and `topoloom runs` that use the run store."""
