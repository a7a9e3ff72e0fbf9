# SPDX-License-Identifier: BSD-3-Clause
"""Exports decisions and schedules in the formats of other programs."""
