# SPDX-License-Identifier: BSD-3-Clause
"""What placement, collectives, algorithms and overlap bring to the applications."""
