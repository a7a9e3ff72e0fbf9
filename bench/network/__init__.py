# SPDX-License-Identifier: BSD-3-Clause
"""Switches simulated by Topoloom, BookSim 2 and CAMINOS."""
