# SPDX-License-Identifier: BSD-3-Clause
"""Options that verbs share, by subject."""
