# SPDX-License-Identifier: BSD-3-Clause
"""Output-queued switches that multicast and combine, beside Kumar 2005, chapter 8."""
