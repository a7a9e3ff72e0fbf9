# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of training jobs."""
