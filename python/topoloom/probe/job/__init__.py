# SPDX-License-Identifier: BSD-3-Clause
"""The measuring job, and its samples."""
