# SPDX-License-Identifier: BSD-3-Clause
"""Advises what to do with a placement, in one sentence."""
