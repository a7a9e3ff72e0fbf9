# SPDX-License-Identifier: BSD-3-Clause
"""Objects: message cost, migrations under traffic, and overlap."""
