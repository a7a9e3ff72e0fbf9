# SPDX-License-Identifier: BSD-3-Clause
"""Reads traces, dumps and compiled programs of AI jobs."""
