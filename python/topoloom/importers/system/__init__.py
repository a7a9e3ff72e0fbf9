# SPDX-License-Identifier: BSD-3-Clause
"""The system of this process: see README.md."""
