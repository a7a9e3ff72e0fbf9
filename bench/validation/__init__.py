# SPDX-License-Identifier: BSD-3-Clause
"""How well each objective orders placements by the time that SimGrid simulates."""
