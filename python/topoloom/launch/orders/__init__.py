# SPDX-License-Identifier: BSD-3-Clause
"""The default order in which launchers place ranks."""
