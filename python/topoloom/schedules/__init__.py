# SPDX-License-Identifier: BSD-3-Clause
"""Collective schedules: which is best, where they change places, and on which ranks."""
