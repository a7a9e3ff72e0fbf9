# SPDX-License-Identifier: BSD-3-Clause
"""Balancers: what they promise, how fast they decide, and how near partners are."""
