# SPDX-License-Identifier: BSD-3-Clause
"""Detects the node or batch job on which this process runs."""
