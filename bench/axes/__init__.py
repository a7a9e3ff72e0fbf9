# SPDX-License-Identifier: BSD-3-Clause
"""Measures the effect of a training job's axis order on AI machines."""
