# SPDX-License-Identifier: BSD-3-Clause
"""The run store: runs of programs, with their recordings and placements."""
