# SPDX-License-Identifier: BSD-3-Clause
"""Our values compared with every known published value."""
