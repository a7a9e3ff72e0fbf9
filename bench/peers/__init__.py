# SPDX-License-Identifier: BSD-3-Clause
"""Topoloom beside its peers: the same instances, one judge, one table."""
