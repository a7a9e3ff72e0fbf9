# SPDX-License-Identifier: BSD-3-Clause
"""The stages of a probe, which give orders to its job."""
