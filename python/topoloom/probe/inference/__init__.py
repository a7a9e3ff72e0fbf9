# SPDX-License-Identifier: BSD-3-Clause
"""Inference from the samples of a probe."""
