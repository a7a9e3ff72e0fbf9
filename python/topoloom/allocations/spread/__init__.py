# SPDX-License-Identifier: BSD-3-Clause
"""Chooses hosts so that communicating groups span few leaf switches."""
