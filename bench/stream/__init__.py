# SPDX-License-Identifier: BSD-3-Clause
"""Streams of small messages: cost of an item, and termination."""
