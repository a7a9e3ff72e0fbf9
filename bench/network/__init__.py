# SPDX-License-Identifier: BSD-3-Clause
"""Simulated switches: Topoloom compared with BookSim 2 and CAMINOS."""
