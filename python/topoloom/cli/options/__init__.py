# SPDX-License-Identifier: BSD-3-Clause
"""Options shared by several verbs, by subject."""
