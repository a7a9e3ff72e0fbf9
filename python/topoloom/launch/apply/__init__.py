# SPDX-License-Identifier: BSD-3-Clause
"""Apply: see README.md."""
