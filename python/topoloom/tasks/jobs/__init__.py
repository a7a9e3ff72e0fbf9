# SPDX-License-Identifier: BSD-3-Clause
"""Joint placement of several jobs, for `topoloom joint`."""
