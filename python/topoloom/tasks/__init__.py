# SPDX-License-Identifier: BSD-3-Clause
"""Tasks: see README.md."""
