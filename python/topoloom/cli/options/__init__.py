# SPDX-License-Identifier: BSD-3-Clause
"""Options that several verbs share, one module per subject."""
