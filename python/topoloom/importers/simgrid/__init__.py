# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid platforms: importer, writer, and measured costs for SMPI."""
