# SPDX-License-Identifier: BSD-3-Clause
"""InfiniBand: see README.md."""
