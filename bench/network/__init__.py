# SPDX-License-Identifier: BSD-3-Clause
"""Switches simulated by us, by BookSim 2 and by CAMINOS."""
