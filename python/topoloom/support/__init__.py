# SPDX-License-Identifier: BSD-3-Clause
"""Helpers shared by all packages: files, formats, units, child processes, errors."""
