# SPDX-License-Identifier: BSD-3-Clause
"""Helpers that all packages share: files, formats, units, child processes, errors."""
