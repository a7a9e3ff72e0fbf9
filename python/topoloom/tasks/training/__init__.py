# SPDX-License-Identifier: BSD-3-Clause
"""Layouts and spare hosts of training jobs."""
