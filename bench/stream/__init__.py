# SPDX-License-Identifier: BSD-3-Clause
"""Streams of small messages: cost per item, and termination detection."""
