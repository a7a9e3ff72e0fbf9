# SPDX-License-Identifier: BSD-3-Clause
"""What a probe asks of its job."""
