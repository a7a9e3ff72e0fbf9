# SPDX-License-Identifier: BSD-3-Clause
"""Streams of small messages: what an item costs, and that no phase ends too soon."""
