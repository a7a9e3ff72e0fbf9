# SPDX-License-Identifier: BSD-3-Clause
"""Programs of many ranks in simulated switches: how long that takes, and how much."""
