# SPDX-License-Identifier: BSD-3-Clause
"""Places several jobs jointly for `topoloom joint`."""
