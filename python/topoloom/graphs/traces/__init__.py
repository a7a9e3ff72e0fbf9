# SPDX-License-Identifier: BSD-3-Clause
"""Readers of what AI jobs leave behind: compiled programs, dumps and traces."""
