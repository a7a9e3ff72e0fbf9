# SPDX-License-Identifier: BSD-3-Clause
"""Placement of experts, for `topoloom experts`."""
