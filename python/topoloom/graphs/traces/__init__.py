# SPDX-License-Identifier: BSD-3-Clause
"""Readers of traces, dumps and compiled programs of AI jobs."""
