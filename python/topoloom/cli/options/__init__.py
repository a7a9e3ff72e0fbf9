# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, one module per subject."""
