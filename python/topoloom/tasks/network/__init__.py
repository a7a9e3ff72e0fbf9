# SPDX-License-Identifier: BSD-3-Clause
"""What happens in the switches of a machine: loads, latencies."""
