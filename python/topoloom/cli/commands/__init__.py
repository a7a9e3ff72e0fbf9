# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the command line, one module per command; see README.md."""
