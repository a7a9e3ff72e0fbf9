# SPDX-License-Identifier: BSD-3-Clause
"""One HTML page about a placement: its gain, its traffic and its link loads."""
