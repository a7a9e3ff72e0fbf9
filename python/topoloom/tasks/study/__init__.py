# SPDX-License-Identifier: BSD-3-Clause
"""Factorial experiments with a program, on a machine or in a simulation."""
