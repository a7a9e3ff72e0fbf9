# SPDX-License-Identifier: BSD-3-Clause
"""Export formats: one module per launcher file format."""
