# SPDX-License-Identifier: BSD-3-Clause
"""Decisions and schedules in the formats of others: one file each."""
