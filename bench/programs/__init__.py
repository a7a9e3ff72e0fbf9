# SPDX-License-Identifier: BSD-3-Clause
"""Programs of many ranks in simulated switches: CPU time and memory."""
