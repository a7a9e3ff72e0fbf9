# SPDX-License-Identifier: BSD-3-Clause
"""Tables of papers again: ours beside every published value that we know."""
