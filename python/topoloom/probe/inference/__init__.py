# SPDX-License-Identifier: BSD-3-Clause
"""What follows from the samples of a probe."""
