# SPDX-License-Identifier: BSD-3-Clause
"""One HTML page about a measured machine."""
