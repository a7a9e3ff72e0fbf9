# SPDX-License-Identifier: BSD-3-Clause
"""Objects: cost of a message, migrations under traffic, and overlap."""
