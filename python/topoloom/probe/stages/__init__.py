# SPDX-License-Identifier: BSD-3-Clause
"""The measurement stages of a probe, which send orders to its job."""
