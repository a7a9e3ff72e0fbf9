# SPDX-License-Identifier: BSD-3-Clause
"""Launchers: see README.md."""
