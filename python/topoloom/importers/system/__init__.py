# SPDX-License-Identifier: BSD-3-Clause
"""The system that this process runs on: see README.md."""
