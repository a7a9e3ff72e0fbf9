# SPDX-License-Identifier: BSD-3-Clause
"""The measurement job, and its samples."""
