# SPDX-License-Identifier: BSD-3-Clause
"""Text formats of communication graphs."""
