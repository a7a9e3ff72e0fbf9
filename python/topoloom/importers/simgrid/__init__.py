# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid: see README.md."""
