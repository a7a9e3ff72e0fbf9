# SPDX-License-Identifier: BSD-3-Clause
"""Support: see README.md."""
