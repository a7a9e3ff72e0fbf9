# SPDX-License-Identifier: BSD-3-Clause
"""Output-queued switches that multicast and reduce, compared with Kumar 2005, ch. 8."""
