# SPDX-License-Identifier: BSD-3-Clause
"""Thread affinity on ring buses, for `topoloom ring-bus`."""
